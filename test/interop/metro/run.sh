set -e
wsdl=$1
if [ -n "${SIGNING-}" ]; then
  # Metro verifies only faults that its WSDL declares, so it needs the WSDL of the second gateway
  sh ../java/policy.sh "${FAULT_ENDPOINT%/soap1?}/soap11?wsdl" "$3"
  wsdl="file://$3/signed.wsdl"
fi
[ -n "${SECURITY-}${MTOM-}${SIGNING-}" ] || java -cp "$3:lib/*" QuickStart "$1" >&2
exec java -cp "$3:lib/*" JaxWsClient "$wsdl" "$2" "$3"
