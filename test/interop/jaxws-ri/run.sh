set -e
jars=/usr/share/jaxws/lib/*
[ -n "${SECURITY-}${MTOM-}" ] || java -cp "$3:$jars" QuickStart "$1" >&2
exec java -cp "$3:$jars" JaxWsClient "$@"
