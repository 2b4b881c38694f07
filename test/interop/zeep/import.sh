# prints all types that zeep found
exec /usr/bin/python3 -m zeep "$1" > "$2/contract.txt"
