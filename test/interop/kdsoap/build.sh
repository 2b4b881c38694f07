set -euo pipefail
wsdl=$1 out=$2
node ../flat-checks.ts > "$out/checks.tsv"
kdwsdl2cpp -o "$out/screening.h" "$wsdl"
kdwsdl2cpp -impl screening.h -o "$out/screening.cpp" "$wsdl"
qt=$(pkg-config --cflags --libs Qt5Network Qt5Xml)
/usr/lib/qt5/bin/moc -I /usr/include/KDSoapClient "$out/screening.h" -o "$out/moc.cpp"
g++ -std=c++17 -fPIC -O0 -w -I /usr/include/KDSoapClient -I "$out" -o "$out/client" \
  client.cpp "$out"/{screening,moc}.cpp -lkdsoap $qt
