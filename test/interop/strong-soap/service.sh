exec node service.ts "$@"
