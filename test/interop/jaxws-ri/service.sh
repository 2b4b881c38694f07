set -euo pipefail
service=$1 wsdl=$2 out=$3 version=$4
jars=/usr/share/jaxws/lib/*
program=Service$(sed 's/-.*//; s/./\u&/' <<< "$service")
if [ ! -e "$out/$program.class" ]; then
  wsimport -quiet -extension -XadditionalHeaders -p adopted -Xnocompile -s "$out" "$wsdl" >&2
  javac -J-XX:TieredStopAtLevel=1 -nowarn -proc:none -cp "$jars" -d "$out" "$out"/adopted/*.java -sourcepath ../java "$program.java" ServiceCheck.java
fi
exec java -XX:TieredStopAtLevel=1 -cp "$out:$jars" "$program" "$wsdl" "$version"
