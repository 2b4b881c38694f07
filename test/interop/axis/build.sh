set -euo pipefail
wsdl=$1 out=$2
. ./classpath.sh
node ../flat-checks.ts > "$out/checks.tsv"
java -cp "$jars" org.apache.axis.wsdl.WSDL2Java -p screening -o "$out" "$wsdl"
# Axis supports SOAP 1.2, but its generator ignores 1.2 bindings
sed 's/Soap11BindingStub/Soap12BindingStub/g; s/SOAP11_CONSTANTS/SOAP12_CONSTANTS/g' \
  "$out/screening/Soap11BindingStub.java" > "$out/screening/Soap12BindingStub.java"
javac -nowarn -Xlint:none -cp "$jars" -d "$out" "$out"/screening/*.java Client.java ../java/{Checks,Reading}.java
