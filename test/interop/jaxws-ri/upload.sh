set -euo pipefail
wsdl=$1 version=$2 out=$3
jars=/usr/share/jaxws/lib/*
wsimport -extension -Xnocompile -p documents -s "$out" "$wsdl" >&2
sed 's/jakarta\.xml\./javax.xml./g' ../java/JaxWsUpload.java > "$out/JaxWsUpload.java"
javac -nowarn -proc:none -cp "$jars" -d "$out" "$out"/documents/*.java "$out/JaxWsUpload.java" ../java/Upload.java >&2
exec java -cp "$out:$jars" JaxWsUpload "$wsdl" "$version"
