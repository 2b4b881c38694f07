set -euo pipefail
wsdl=$1 out=$2
node ../flat-checks.ts > "$out/checks.tsv"
wsdl2h -c++11 -o "$out/api.h" "$wsdl"
echo '#import "wsse.h"' >> "$out/api.h" # WS-Security, which the WSDL asks for nowhere
plugin=/usr/share/gsoap/plugin
for version in 1.1 1.2; do
  mkdir "$out/$version"
  soapcpp2 -j -C -"${version#1.}" -x -d "$out/$version" -I /usr/share/gsoap/import "$out/api.h"
  g++ -std=c++17 -O0 -w -DWITH_OPENSSL -DWITH_DOM -I "$out/$version" -I "$plugin" -o "$out/$version/client" \
    client.cpp "$out/$version"/soap{C,Soap11BindingProxy}.cpp "$plugin"/wsseapi.cpp \
    -x c++ "$plugin"/{smdevp,mecevp,threads}.c "$plugin"/../custom/struct_timeval.c -lgsoapssl++ -lssl -lcrypto
done
