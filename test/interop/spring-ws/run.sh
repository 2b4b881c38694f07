exec java -cp "$3:lib/*" Client "$@"
