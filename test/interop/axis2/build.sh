set -euo pipefail
wsdl=$1 out=$2
types=http://schemas.servicestack.net/types
arrays=http://schemas.microsoft.com/2003/10/Serialization/Arrays
node ../flat-checks.ts > "$out/checks.tsv"
java -cp 'lib/*' org.apache.axis2.wsdl.WSDL2Java \
  -uri "$wsdl" -o "$out" -S . -p screening -ns2p $types=screening,$arrays=screening -d adb -u -s
javac -nowarn -Xlint:none -proc:none -cp 'lib/*' -d "$out" "$out"/screening/*.java ../axis2/Client.java Security.java ../java/{Checks,Reading}.java
