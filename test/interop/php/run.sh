set -e
[ -n "${SECURITY-}${SIGNING-}" ] || php -d soap.wsdl_cache_enabled=0 quick-start.php "$1" >&2
exec php client.php "$@"
