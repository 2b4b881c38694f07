set -e
wsdl=$1
if [ -n "${SIGNING-}" ]; then
  sh ../java/keystore.sh "$3"
  export KEYSTORE="$3/caller.p12"
  wsdl="$1&policy=signed"
fi
[ -n "${SECURITY-}${MTOM-}${SIGNING-}" ] || java -cp "$3:lib/*" QuickStart "$1" >&2
exec java -cp "$3:lib/*" JaxWsClient "$wsdl" "$2" "$3"
