set -euo pipefail
wsdl=$1 version=$2 out=$3
wsdl2h -c++11 -o "$out/api.h" "$wsdl" >&2
soapcpp2 -j -C -"${version#1.}" -x -d "$out" -I /usr/share/gsoap/import "$out/api.h" >&2
g++ -std=c++17 -O0 -w -I "$out" -o "$out/client" upload.cpp "$out"/soap{C,Soap11BindingProxy}.cpp -lgsoap++ >&2
exec "$out/client" "$ENDPOINT"
