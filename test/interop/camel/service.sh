set -euo pipefail
wsdl=$2 out=$3
java -cp 'lib/*' com.sun.tools.xjc.XJCFacade -wsdl -quiet -p adopted -d "$out" "$wsdl" >&2
javac -nowarn -proc:none -cp 'lib/*' -d "$out" "$out"/adopted/*.java ServiceShop.java ../java/ServiceItems.java ../jaxws-ri/ServiceCheck.java >&2
exec java -cp "$out:lib/*" ServiceShop "${wsdl%\?wsdl}"
