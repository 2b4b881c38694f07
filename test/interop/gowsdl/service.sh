set -euo pipefail
wsdl=$2 out=$3
cp go.mod go.sum "$out"
cp service/shop.go "$out"
cd "$out"
{
  go build -mod=mod -o gowsdl github.com/hooklift/gowsdl/cmd/gowsdl
  ./gowsdl -p shop -o shop_types.go "$wsdl"
  go build -o client .
} >&2
exec ./client "${wsdl%\?wsdl}"
