set -euo pipefail
out=$2 # the client takes in the WSDL itself, when it runs
node ../flat-checks.ts > "$out/checks.tsv"
javac -nowarn -proc:none -cp '../cxf/lib/*' -d "$out" Client.java ../java/{Checks,Reading}.java
