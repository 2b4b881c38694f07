set -euo pipefail
wsdl=$1 out=$2
node ../flat-checks.ts > "$out/checks.tsv"
svcutil -o:"$out/generated.cs" "$wsdl"
# Mono's svcutil, unlike .NET's, omits the name of the reply's part, and its WCF then reads null
sed 's/^\( *\)\[System.ServiceModel.OperationContractAttribute.*$/&\n\1[return: System.ServiceModel.MessageParameterAttribute(Name="Data")]/' \
  "$out/generated.cs" > "$out/proxy.cs"
references=(-r:System.ServiceModel -r:System.Runtime.Serialization -r:System.Xml)
mcs -nologo "${references[@]}" -out:"$out/Client.exe" Client.cs ../mono/*.cs "$out/proxy.cs"
mcs -nologo "${references[@]}" -out:"$out/QuickStart.exe" QuickStart.cs "$out/proxy.cs"
