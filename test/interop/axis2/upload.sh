set -euo pipefail
wsdl=$1 version=$2 out=$3
java -cp 'lib/*' org.apache.axis2.wsdl.WSDL2Java \
  -uri "$wsdl" -o "$out" -S . -p documents -ns2p urn:example:documents=documents -d adb -u -s >&2
javac -nowarn -Xlint:none -proc:none -cp 'lib/*' -d "$out" "$out"/documents/*.java UploadClient.java ../java/Upload.java >&2
exec java -cp "$out:lib/*" UploadClient "$ENDPOINT" "$version"
