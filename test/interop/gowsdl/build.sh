set -euo pipefail
wsdl=$1 out=$2
node ../flat-checks.ts > "$out/checks.tsv"
cp go.mod go.sum client.go "$out"
cd "$out"
go build -mod=mod -o gowsdl github.com/hooklift/gowsdl/cmd/gowsdl
./gowsdl -p screening -o screening.go "$wsdl"
go build -o client .
