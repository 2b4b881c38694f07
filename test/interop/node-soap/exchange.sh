exec node exchange.ts "$1" "$2"
