set -euo pipefail
service=$1 wsdl=$2 out=$3
cp go.mod go.sum service/check.go "service/$service.go" "$out"
cd "$out"
{
  go build -mod=mod -o gowsdl github.com/hooklift/gowsdl/cmd/gowsdl
  ./gowsdl -p "$service" -o types.go "$wsdl"
  go build -o client .
} >&2
exec ./client "${wsdl%\?wsdl}"
