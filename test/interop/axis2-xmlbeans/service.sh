set -euo pipefail
wsdl=$2 out=$3
java -cp 'lib/*' org.apache.axis2.wsdl.WSDL2Java -uri "$wsdl" -o "$out" -S . -R . -p adopted -d xmlbeans -u -s >&2
javac -nowarn -Xlint:none -proc:none -cp 'lib/*' -d "$out" $(find "$out" -name '*.java') ServiceShop.java ../axis/ServiceCheck.java >&2
exec java -cp "$out:lib/*" ServiceShop "${wsdl%\?wsdl}"
