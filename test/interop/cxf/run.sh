set -e
[ -n "${SECURITY-}${MTOM-}" ] || java -cp "$3:lib/*" QuickStart "$1" >&2
exec java -cp "$3:lib/*" JaxWsClient "$@"
