# Writes OUT_DIR/signed.wsdl: the WSDL of the policy "signed" with keys.xml in its policy. Arguments: WSDL_URL, OUT_DIR.
sh ../java/keystore.sh "$2"
keys=$(grep -v docs: keys.xml | sed "s#caller\.p12#$2/&#" | tr '\n' ' ')
curl -sSf "$1&policy=signed" | sed "s#<wsp:All>#&$keys#" > "$2/signed.wsdl"
