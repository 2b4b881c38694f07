. ./classpath.sh
# a date without a zone is UTC's for Axis 1.4, whatever the machine's zone
TZ=UTC exec java -cp "$3:$jars" Client "$@"
