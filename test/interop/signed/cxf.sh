# Arguments: the URL of the WSDL, and the folder of the keys. CXF_LIB is a folder with the JARs of test/interop/cxf/pom.xml.
set -eu
lib=${CXF_LIB:-$PWD/../cxf/lib}
cd "$2"
openssl pkcs12 -export -inkey alice.key -in alice.crt -name alice -passout pass:changeit -out gateway.p12
cp gateway.p12 mallory.p12
for trusted in gateway mallory; do
  keytool -importcert -noprompt -alias gateway -file "$trusted.crt" -keystore "$trusted.p12" -storetype PKCS12 -storepass changeit >&2
done
javac -nowarn -proc:none -cp "$lib/*" -d . "$OLDPWD/CxfClient.java"
exec java -cp ".:$lib/*" CxfClient "$@"
