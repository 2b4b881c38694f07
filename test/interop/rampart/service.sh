set -euo pipefail
wsdl=$2 out=$3
java -cp 'lib/*' org.apache.axis2.wsdl.WSDL2Java -uri "$wsdl" -o "$out" -S . -p adopted -ns2p urn:Shop=adopted -d adb -u -s >&2
javac -nowarn -Xlint:none -proc:none -cp 'lib/*' -d "$out" "$out"/adopted/*.java ../axis2/ServiceShop.java ../axis/ServiceCheck.java >&2
exec java -cp "$out:lib/*" ServiceShop "${wsdl%\?wsdl}"
