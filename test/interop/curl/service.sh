#!/bin/bash
# A service: hand-written envelopes, replies read with XPath.
endpoint=${2%\?wsdl} version=$4
[ "$1" = orders ] && exec bash orders.sh "$endpoint" "$version"
. ./version.sh

post() { # operation, inputs
  send "$1" <<XML
<?xml version="1.0" encoding="utf-8"?>
<soap:Envelope xmlns:soap="$envelope"><soap:Body>
  <$1 xmlns="urn:Shop">$2</$1>
</soap:Body></soap:Envelope>
XML
}

value() { # reply, name
  if [ "$(xmllint --xpath "boolean(//*[local-name()='$2'])" - <<<"$1")" = false ]; then echo null
  else jq -n --arg text "$(xmllint --xpath "string(//*[local-name()='$2'])" - <<<"$1")" '$text'
  fi
}

check() { # situation, reply, names
  local situation=$1 reply=$2 name
  shift 2
  for name in "$@"; do value "$reply" "$name"; done | jq -sc --arg situation "$situation" '{$situation, got: .}'
}

item=$(post getItem '<id>1</id>')
tags=$(xmllint --xpath "count(//*[local-name()='tags']/*)" - <<<"$item")
second=$(xmllint --xpath "string(//*[local-name()='tags']/*[2])" - <<<"$item")
check read "$item" name price weight stock added expires rating returnable note |
  jq -c --arg tags "$tags" --arg second "$second" '.got += [$tags, $second]'
body=$(xmllint --xpath "//*[local-name()='Result']/*" - <<<"$item" | sed 's|<name[^<]*</name>|<name>Ö \&amp; Co</name>|')
post putItem "<id>1</id><Body>$body</Body>" >&2
check change "$(post getItem '<id>1</id>')" name price weight rating
check fault "$(post getItem '<id>404</id>')" status
