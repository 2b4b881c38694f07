set -euo pipefail
wsdl=$1 calls=$2 out=$3
jars=/usr/share/jaxws/lib/*
wsimport -quiet -extension -p document -d "$out" -Xnocompile -s "$out" "$wsdl" >&2
# the same program with the package names before Jakarta EE 9
sed 's/jakarta\./javax./' ../java/Exchange.java > "$out/Exchange.java"
javac -J-XX:TieredStopAtLevel=1 -nowarn -proc:none -cp "$jars" -d "$out" "$out"/document/*.java "$out/Exchange.java"
exec java -XX:TieredStopAtLevel=1 -cp "$out:$jars" Exchange "$wsdl" "$calls" "$out"
