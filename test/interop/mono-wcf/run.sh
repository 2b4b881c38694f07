exec mono "$3/client.exe" "$@"
