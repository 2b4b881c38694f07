set -euo pipefail
wsdl=$1 version=$2 out=$3
java -cp 'lib/*' com.sun.tools.xjc.XJCFacade -wsdl -quiet -p documents -d "$out" "$wsdl" >&2
javac -nowarn -proc:none -cp 'lib/*' -d "$out" "$out"/documents/*.java UploadClient.java ../java/Upload.java >&2
exec java -cp "$out:lib/*" UploadClient "$ENDPOINT" "$version"
