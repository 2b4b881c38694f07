set -euo pipefail
# arguments: name of the server, its WSDL, output folder
name=$1 wsdl=$2 out=$3
mkdir -p "$out/sources" "$out/classes"
wsimport -quiet -extension -Xnocompile -p up -s "$out/sources" "$wsdl"
javac -nowarn -proc:none -encoding UTF-8 -cp '/usr/share/jaxws/lib/*' -d "$out/classes" "$out"/sources/up/*.java Said.java "$name.java"
