set -euo pipefail
wsdl=$1 out=$2
node ../flat-checks.ts > "$out/checks.tsv"
references=(-r:System.Web.Services -r:System.Xml)
for protocol in SOAP SOAP12; do
  wsdl -nologo -namespace:Screening -protocol:$protocol -out:"$out/$protocol.cs" "$wsdl"
  mcs -nologo "${references[@]}" -out:"$out/$protocol.exe" Client.cs ../mono/*.cs "$out/$protocol.cs"
done
mcs -nologo "${references[@]}" -out:"$out/QuickStart.exe" QuickStart.cs "$out/SOAP.cs"
