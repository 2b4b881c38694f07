set -euo pipefail
service=$1 wsdl=$2 out=$3 version=$4
program=Service$(sed 's/./\u&/' <<< "$service")
if [ ! -e "$out/$program.class" ]; then
  java -cp 'lib/*' org.apache.cxf.tools.wsdlto.WSDLToJava -exsh true -p adopted -d "$out" "$wsdl" >&2
  # the same program with the package names of Jakarta EE 9
  sed 's/javax\.xml\.\(ws\|bind\)/jakarta.xml.\1/g' "../jaxws-ri/$program.java" > "$out/$program.java"
  javac -nowarn -proc:none -cp 'lib/*' -sourcepath ../java -d "$out" "$out"/adopted/*.java "$out/$program.java" ../jaxws-ri/ServiceCheck.java >&2
fi
exec java -XX:TieredStopAtLevel=1 -cp "$out:lib/*" "$program" "$wsdl" "$version"
