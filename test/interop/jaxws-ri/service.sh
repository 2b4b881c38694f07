set -euo pipefail
service=$1 wsdl=$2 out=$3
jars=/usr/share/jaxws/lib/*
wsimport -quiet -XadditionalHeaders -p adopted -Xnocompile -s "$out" "$wsdl" >&2
program=Service$(sed 's/-.*//; s/./\u&/' <<< "$service")
javac -J-XX:TieredStopAtLevel=1 -nowarn -proc:none -cp "$jars" -d "$out" "$out"/adopted/*.java "$program.java" ServiceCheck.java
exec java -XX:TieredStopAtLevel=1 -cp "$out:$jars" "$program" "$wsdl"
