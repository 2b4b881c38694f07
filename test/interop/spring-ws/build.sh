set -euo pipefail
wsdl=$1 out=$2
node ../flat-checks.ts > "$out/checks.tsv"
java -cp 'lib/*' com.sun.tools.xjc.XJCFacade -wsdl -quiet -p screening -d "$out" "$wsdl"
javac -nowarn -proc:none -cp 'lib/*' -d "$out" "$out"/screening/*.java Client.java ../java/{Checks,Payloads,Reading,Requests}.java
