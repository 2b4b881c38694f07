# Writes OUT_DIR/caller.p12: the key of SIGNING, and the trusted GATEWAY_CERTIFICATE. Argument: OUT_DIR.
openssl pkcs12 -export -inkey "$SIGNING/caller.key" -in "$SIGNING/caller.crt" -name caller -passout pass:changeit -out "$1/caller.p12"
keytool -importcert -noprompt -alias gateway -file "$GATEWAY_CERTIFICATE" -keystore "$1/caller.p12" -storetype PKCS12 -storepass changeit >&2
