exec java -cp "$3:/usr/share/jaxws/lib/*" JaxWsClient "$@"
