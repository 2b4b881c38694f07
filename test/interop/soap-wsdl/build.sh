exec wsdl2perl -b "$2" -p Screening "$1"
