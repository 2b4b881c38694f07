set -e
[ "$2" = 1.2 ] || mono "$3/QuickStart.exe" "$ENDPOINT" >&2
exec mono "$3/Client.exe" "$@"
