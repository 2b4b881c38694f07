set -euo pipefail
service=$1 wsdl=$2 out=$3 version=$4
program=Service$(sed 's/./\u&/' <<< "$service")
if [ ! -e "$out/$program.class" ]; then
  java -cp 'lib/*' com.sun.tools.xjc.XJCFacade -wsdl -quiet -p adopted -d "$out" "$wsdl" >&2
  javac -nowarn -proc:none -cp 'lib/*' -d "$out" -sourcepath .:../java "$out"/adopted/*.java "$program.java" ../jaxws-ri/ServiceCheck.java >&2
fi
exec java -cp "$out:lib/*" "$program" "${wsdl%\?wsdl}" "$version"
