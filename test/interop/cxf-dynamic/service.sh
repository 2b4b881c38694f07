set -euo pipefail
service=$1 wsdl=$2 out=$3 version=$4
program=Service$(sed 's/./\u&/' <<< "$service")
[ -e "$out/$program.class" ] ||
  javac -nowarn -proc:none -cp '../cxf/lib/*' -d "$out" "$program.java" Members.java ../jaxws-ri/ServiceCheck.java >&2
exec java -cp "$out:../cxf/lib/*" "$program" "$wsdl" "$version"
