exec java -cp "$3:../cxf/lib/*" Client "$@"
