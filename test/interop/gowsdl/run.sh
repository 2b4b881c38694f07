exec "$3/client" "$3/checks.tsv"
