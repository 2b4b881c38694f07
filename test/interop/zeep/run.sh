set -e
export PYTHONPATH=../python
[ -n "${SECURITY-}${SIGNING-}" ] || /usr/bin/python3 quick-start.py "$1" >&2
exec /usr/bin/python3 client.py "$@"
