set -euo pipefail
wsdl=$2 out=$3
javac -nowarn -proc:none -cp '../cxf/lib/*' -d "$out" ServiceShop.java ../jaxws-ri/ServiceCheck.java >&2
exec java -cp "$out:../cxf/lib/*" ServiceShop "$wsdl"
