set -e
wsdl2perl -b "$3" -p Adopted "$2" >&2
exec perl -I../perl -I"$3" service.pl "${2%\?wsdl}"
