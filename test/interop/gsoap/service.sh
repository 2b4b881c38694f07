set -euo pipefail
service=$1 wsdl=$2 out=$3 version=$4
[ -e "$out/api.h" ] || wsdl2h -c++11 -o "$out/api.h" "$wsdl" >&2
made=$out/$version
mkdir "$made"
soapcpp2 -j -C -"${version#1.}" -x -d "$made" -I /usr/share/gsoap/import "$out/api.h" >&2
g++ -std=c++17 -O0 -w -I "$made" -o "$made/client" "service-$service.cpp" "$made"/soap{C,*Proxy}.cpp -lgsoap++ >&2
# a time_t has no zone, so a date without a zone is local time
TZ=UTC exec "$made/client" "${wsdl%\?wsdl}"
