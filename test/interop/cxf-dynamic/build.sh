set -euo pipefail
out=$2 # the client imports the WSDL when it runs
node ../flat-checks.ts > "$out/checks.tsv"
javac -nowarn -proc:none -cp '../cxf/lib/*' -d "$out" Client.java ../java/{Checks,Reading}.java
