set -e
[ -n "${SECURITY-}${SIGNING-}" ] || node quick-start.ts "$1" >&2
exec node client.ts "$@"
