set -euo pipefail
service=$1 wsdl=$2 out=$3
. ./classpath.sh
java -cp "$jars" org.apache.axis.wsdl.WSDL2Java -p adopted -o "$out" "$wsdl" >&2
program=ServiceOrders
[ "$service" != shop ] || program=ServiceShop
[[ "$service" =~ ^(orders-rpc|shop)$ ]] || exit 0 # gaps.ts says why
javac -nowarn -Xlint:none -cp "$jars" -d "$out" "$out"/adopted/*.java $program.java ServiceCheck.java
# a date without a zone is UTC's for Axis 1.4, whatever the machine's zone
TZ=UTC exec java -cp "$out:$jars" $program "$wsdl"
