set -euo pipefail
wsdl=$1 out=$2
node ../flat-checks.ts > "$out/checks.tsv"
java -cp 'lib/*' org.apache.cxf.tools.wsdlto.WSDLToJava -p screening -d "$out" "$wsdl"
javac -nowarn -proc:none -cp 'lib/*' -d "$out" "$out"/screening/*.java ../java/{Checks,Reading,Requests,JaxWsClient,QuickStart}.java \
  Security.java
