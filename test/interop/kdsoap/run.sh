exec "$3/client" "$@"
