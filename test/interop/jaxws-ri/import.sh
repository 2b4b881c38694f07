exec wsimport -quiet -Xnocompile -s "$2" "$1" >&2
