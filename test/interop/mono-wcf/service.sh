set -euo pipefail
service=$1 wsdl=$2 out=$3 version=$4
if [ ! -e "$out/client.exe" ]; then
  svcutil -o:"$out/generated.cs" "$wsdl" >&2
  [ "$service" = shop ] || exit 0 # gaps.ts states the reason
  # Mono's svcutil, unlike .NET's, omits the name of the reply's part
  sed 's/^\( *\)\[System.ServiceModel.OperationContractAttribute.*$/&\n\1[return: System.ServiceModel.MessageParameterAttribute(Name="Result")]/' \
    "$out/generated.cs" > "$out/proxy.cs"
  mcs -nologo -r:System.ServiceModel -r:System.Runtime.Serialization -r:System.Xml -out:"$out/client.exe" \
    ServiceShop.cs ../mono-asmx/ServiceCheck.cs -r:System.Web.Services "$out/proxy.cs" >&2
fi
exec mono "$out/client.exe" "${wsdl%\?wsdl}" "$version"
