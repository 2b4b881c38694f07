set -euo pipefail
service=$1 wsdl=$2 out=$3 version=$4
program=Service$(sed 's/./\u&/' <<< "$service")
if [ ! -e "$out/$program.class" ]; then
  java -cp 'lib/*' org.apache.axis2.wsdl.WSDL2Java -uri "$wsdl" -o "$out" -S . -R . -p adopted -d xmlbeans -u -s >&2
  javac -nowarn -Xlint:none -proc:none -cp 'lib/*' -d "$out" $(find "$out" -name '*.java') "$program.java" ../axis/ServiceCheck.java >&2
fi
exec java -cp "$out:lib/*" "$program" "${wsdl%\?wsdl}" "$version"
