set -e
service=$1 wsdl=$2 out=$3
typemap=
[ "$service" = shop ] || typemap="--typemap_include $PWD/$service-typemap.pl"
wsdl2perl $typemap -b "$out" -p Adopted "$wsdl" >&2
exec perl -I../perl -I"$out" "service-$service.pl" "${wsdl%\?wsdl}"
