set -euo pipefail
wsdl=$1 out=$2
node ../flat-checks.ts > "$out/checks.tsv"
java -cp 'lib/*' com.sun.tools.ws.WsImport -extension -Xnocompile -p screening -s "$out" "$wsdl"
javac -nowarn -proc:none -cp 'lib/*' -d "$out" "$out"/screening/*.java ../java/{Checks,Reading,Requests,Security,JaxWsClient,QuickStart}.java
