set -euo pipefail
service=$1 wsdl=$2 out=$3
wsdl -nologo -namespace:Adopted -protocol:SOAP -out:"$out/proxy.cs" "$wsdl" >&2
program=Service$(sed 's/orders-rpc/OrdersRpc/; s/./\u&/' <<< "$service")
mcs -nologo -r:System.Web.Services -r:System.Xml -out:"$out/client.exe" "$program.cs" ServiceCheck.cs "$out/proxy.cs" >&2
exec mono "$out/client.exe" "${wsdl%\?wsdl}"
