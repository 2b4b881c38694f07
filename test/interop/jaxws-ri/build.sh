set -euo pipefail
wsdl=$1 out=$2
node ../flat-checks.ts > "$out/checks.tsv"
wsimport -extension -Xnocompile -p screening -s "$out" "$wsdl"
# the same program before Jakarta EE 9 renamed the packages
sed 's/jakarta\.xml\./javax.xml./' ../java/JaxWsClient.java > "$out/JaxWsClient.java"
javac -nowarn -proc:none -cp '/usr/share/jaxws/lib/*' -d "$out" \
  "$out"/screening/*.java "$out/JaxWsClient.java" ../java/{Checks,Reading}.java
