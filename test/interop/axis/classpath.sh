# Axis 1.4 and the Debian jars that it needs
jars=$(printf '/usr/share/java/%s.jar:' axis axis-jaxrpc axis-saaj wsdl4j commons-logging commons-discovery \
  commons-httpclient javax.mail javax.activation)
