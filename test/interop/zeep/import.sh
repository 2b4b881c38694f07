# prints what it understood, of every type
exec /usr/bin/python3 -m zeep "$1" > "$2/contract.txt"
