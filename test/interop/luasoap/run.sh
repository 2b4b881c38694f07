echo '{"situation":"import","error":"LuaSOAP reads no WSDL"}'
node ../flat-checks.ts > "$3/checks.tsv"
exec lua5.1 client.lua "$2" "$3/checks.tsv"
