set -euo pipefail
service=$1 wsdl=$2 out=$3 version=$4
if [ ! -e "$out/client" ]; then
  kdwsdl2cpp -o "$out/proxy.h" "$wsdl" >&2
  kdwsdl2cpp -impl proxy.h -o "$out/proxy.cpp" "$wsdl" >&2
  qt=$(pkg-config --cflags --libs Qt5Network Qt5Xml)
  /usr/lib/qt5/bin/moc -I /usr/include/KDSoapClient "$out/proxy.h" -o "$out/moc.cpp" >&2
  g++ -std=c++17 -fPIC -O0 -w -I /usr/include/KDSoapClient -I "$out" -I . -o "$out/client" \
    "service-$service.cpp" "$out"/{proxy,moc}.cpp -lkdsoap $qt >&2
fi
exec "$out/client" "${wsdl%\?wsdl}" "$version"
