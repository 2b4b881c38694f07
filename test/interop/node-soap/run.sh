exec node client.ts "$@"
