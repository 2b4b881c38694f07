set -euo pipefail
wsdl=$1 out=$2
node ../flat-checks.ts > "$out/checks.tsv"
wsdl2h -c++11 -o "$out/api.h" "$wsdl"
for version in 1.1 1.2; do
  mkdir "$out/$version"
  soapcpp2 -j -C -"${version#1.}" -x -d "$out/$version" -I /usr/share/gsoap/import "$out/api.h"
  g++ -std=c++17 -O0 -w -I "$out/$version" -o "$out/$version/client" \
    client.cpp "$out/$version"/soap{C,Soap11BindingProxy}.cpp -lgsoap++
done
