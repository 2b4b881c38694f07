set -euo pipefail
wsdl=$2 out=$3
kdwsdl2cpp -o "$out/shop.h" "$wsdl" >&2
kdwsdl2cpp -impl shop.h -o "$out/shop.cpp" "$wsdl" >&2
qt=$(pkg-config --cflags --libs Qt5Network Qt5Xml)
/usr/lib/qt5/bin/moc -I /usr/include/KDSoapClient "$out/shop.h" -o "$out/moc.cpp" >&2
g++ -std=c++17 -fPIC -O0 -w -I /usr/include/KDSoapClient -I "$out" -o "$out/client" \
  service.cpp "$out"/{shop,moc}.cpp -lkdsoap $qt >&2
exec "$out/client" "${wsdl%\?wsdl}"
