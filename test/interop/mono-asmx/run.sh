[ "$2" = 1.1 ] && protocol=SOAP || protocol=SOAP12
exec mono "$3/$protocol.exe" "$@"
