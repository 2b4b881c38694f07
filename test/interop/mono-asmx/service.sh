set -euo pipefail
service=$1 wsdl=$2 out=$3 version=$4
protocol=SOAP
[ "$version" = 1.1 ] || protocol=SOAP12
wsdl -nologo -namespace:Adopted -protocol:$protocol -out:"$out/$protocol.cs" "$wsdl" >&2
program=Service$(sed 's/orders-rpc/OrdersRpc/; s/./\u&/' <<< "$service")
mcs -nologo -r:System.Web.Services -r:System.Xml -out:"$out/$protocol.exe" "$program.cs" ServiceCheck.cs "$out/$protocol.cs" >&2
exec mono "$out/$protocol.exe" "${wsdl%\?wsdl}"
