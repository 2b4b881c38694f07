set -e
if [ -n "${SIGNING-}" ]; then
  sh ../java/policy.sh "$1" "$3"
  export WSDL="$3/signed.wsdl"
fi
REPOSITORY="$3/repository" exec java -cp "$3:lib/*" Client "$@"
