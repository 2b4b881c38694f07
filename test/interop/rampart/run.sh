REPOSITORY="$3/repository" exec java -cp "$3:lib/*" Client "$@"
