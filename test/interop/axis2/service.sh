set -euo pipefail
service=$1 wsdl=$2 out=$3 version=$4
program=Service$(sed 's/./\u&/' <<< "$service")
if [ ! -e "$out/$program.class" ]; then
  # -g, which requires -ss, also generates derived types
  java -cp 'lib/*' org.apache.axis2.wsdl.WSDL2Java -uri "$wsdl" -o "$out" -S . -p adopted \
    -ns2p urn:Shop=adopted,http://orders.example/=adopted -d adb -u -s -ss -g >&2
  javac -nowarn -Xlint:none -proc:none -cp 'lib/*' -d "$out" "$out"/adopted/*.java "../axis2/$program.java" ../axis/ServiceCheck.java >&2
fi
# ADB writes a date with the zone of the machine
TZ=UTC exec java -cp "$out:lib/*" "$program" "${wsdl%\?wsdl}" "$version"
