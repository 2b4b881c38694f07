. ./classpath.sh
# Axis 1.4 reads a date without a zone as UTC, whatever the machine's zone
TZ=UTC exec java -cp "$3:$jars" Client "$@"
