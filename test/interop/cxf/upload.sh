set -euo pipefail
wsdl=$1 version=$2 out=$3
java -cp 'lib/*' org.apache.cxf.tools.wsdlto.WSDLToJava -p documents -d "$out" "$wsdl" >&2
javac -nowarn -proc:none -cp 'lib/*' -d "$out" "$out"/documents/*.java ../java/{Upload,JaxWsUpload}.java >&2
exec java -cp "$out:lib/*" JaxWsUpload "$wsdl" "$version"
