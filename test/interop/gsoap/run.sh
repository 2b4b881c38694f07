exec "$3/$2/client" "$@"
