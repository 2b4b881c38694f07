exec /usr/bin/python3 exchange.py "$1" "$2"
