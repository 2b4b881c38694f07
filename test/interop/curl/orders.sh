#!/bin/bash
# The wrapped .asmx service: hand-written envelopes, replies read with XPath.
endpoint=$1 version=$2
. ./version.sh

post() { # operation, inputs
  send "http://orders.example/$1" <<XML
<?xml version="1.0" encoding="utf-8"?>
<soap:Envelope xmlns:soap="$envelope" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"
  xmlns="http://orders.example/" xmlns:o="http://orders.example/">
  <soap:Header><SessionHeader><session>abc</session><branch>north</branch></SessionHeader></soap:Header>
  <soap:Body><$1>$2</$1></soap:Body>
</soap:Envelope>
XML
}

# An XPath of local names: /Line[2]/@quantity
value() { # reply, path
  local path
  path=$(sed -E "s#/([A-Za-z0-9]+)#/*[local-name()='\1']#g; s#@([a-z]+)#@*[local-name()='\1']#" <<<"$2")
  if [ "$(xmllint --xpath "boolean($path[not(@*[local-name()='nil']='true')])" - <<<"$1")" = false ]; then echo null
  else jq -n --arg text "$(xmllint --xpath "string($path)" - <<<"$1")" '$text'
  fi
}

count() { # reply, name
  jq -n --arg text "$(xmllint --xpath "count(//*[local-name()='$2'])" - <<<"$1")" '$text'
}

line() { # situation; the values on standard input
  jq -sc --arg situation "$1" '{$situation, got: .}'
}

order=$(post GetOrder '<orderId>1</orderId>')
result=//GetOrderResult
{
  for path in /@id /Total /Status /Placed /Shipped; do value "$order" "$result$path"; done
  count "$order" Line
  for path in /Line[1]/@quantity /Line[2]/Price /Card/Last4 /Invoice /Customer/Name /Customer/Phone /Customer/Phone/@kind; do
    value "$order" "$result$path"
  done
} | line read
{
  value "$order" $result/Customer/@type | sed 's/"[^"]*:/"/'
  value "$order" $result/Customer/VatId
} | line polymorphism
{
  count "$order" string
  value "$order" $result/Labels/string[1]
  value "$order" $result/Labels/string[2]
} | line list
value "$order" //callsLeft | line header
value "$order" //crate | line any
placed=$(post PlaceOrder '<order id="0" version="2">
  <Customer i:type="o:BusinessCustomer"><Name>Ö &amp; Co</Name><Phone kind="mobile">555</Phone><VatId>AT9</VatId></Customer>
  <Placed>2020-02-29T12:00:00</Placed><Shipped i:nil="true"/><Total>10.25</Total><Status>Shipped</Status>
  <Line quantity="3"><Article>Screws</Article><Price>3.25</Price></Line>
  <Line quantity="1"><Article>Rope</Article><Price>0.50</Price></Line>
  <Labels><string>one</string><string>two</string></Labels><Invoice>I-1</Invoice></order>' |
  xmllint --xpath "string(//*[local-name()='PlaceOrderResult'])" -)
back=$(post GetOrder "<orderId>$placed</orderId>")
for path in /Customer/Name /Customer/Phone/@kind /Customer/VatId /Shipped /Total /Line[2]/Article /Invoice /Card; do
  value "$back" "$result$path"
done | line write
fault=$(post GetOrder '<orderId>404</orderId>')
{
  value "$fault" //OrderNotFound/orderId
  value "$fault" //OrderNotFound/hint
} | line fault
post CancelOrder "<orderId>$placed</orderId>" >&2
value "$(post GetOrder "<orderId>$placed</orderId>")" $result/Status | line 'empty reply'
