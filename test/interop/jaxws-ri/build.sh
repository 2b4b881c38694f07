set -euo pipefail
wsdl=$1 out=$2
node ../flat-checks.ts > "$out/checks.tsv"
wsimport -extension -Xnocompile -p screening -s "$out" "$wsdl"
# the same program with the package names before Jakarta EE 9
for source in JaxWsClient QuickStart Requests Security; do
  sed 's/jakarta\.xml\./javax.xml./g' ../java/$source.java > "$out/$source.java"
done
javac -nowarn -proc:none -cp '/usr/share/jaxws/lib/*' -d "$out" \
  "$out"/screening/*.java "$out"/{JaxWsClient,QuickStart,Requests,Security}.java ../java/{Checks,Reading}.java
