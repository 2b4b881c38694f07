set -e
if [ "$2" = 1.1 ]; then
  mono "$3/QuickStart.exe" "$ENDPOINT" >&2
  exec mono "$3/SOAP.exe" "$@"
fi
exec mono "$3/SOAP12.exe" "$@"
