set -euo pipefail
service=$1 wsdl=$2 out=$3
wsdl2h -c++11 -o "$out/api.h" "$wsdl" >&2
soapcpp2 -j -C -1 -x -d "$out" -I /usr/share/gsoap/import "$out/api.h" >&2
g++ -std=c++17 -O0 -w -I "$out" -o "$out/client" "service-$service.cpp" "$out"/soap{C,*Proxy}.cpp -lgsoap++ >&2
# a time_t has no zone: a date without one is the machine's
TZ=UTC exec "$out/client" "${wsdl%\?wsdl}"
