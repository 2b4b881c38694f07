# Namespace of the envelope and headers of a call for SOAP version $version. SOAP 1.2 has the action in Content-Type.
envelope=http://schemas.xmlsoap.org/soap/envelope/
[ "$version" = 1.1 ] || envelope=http://www.w3.org/2003/05/soap-envelope

send() { # action; the envelope on standard input
  local headers=(-H 'Content-Type: text/xml; charset=utf-8' -H "SOAPAction: \"$1\"")
  [ "$version" = 1.1 ] || headers=(-H "Content-Type: application/soap+xml; charset=utf-8; action=\"$1\"")
  curl --silent --show-error --max-time 20 "${headers[@]}" --data-binary @- "$endpoint"
}
