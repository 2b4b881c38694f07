exec /usr/bin/python3 adopted.py "$@"
