#!/bin/bash
# Hand-written envelopes, as scripts and stored procedures send them; replies read with XPath.
version=$2
envelope_namespace=http://schemas.xmlsoap.org/soap/envelope/
headers=(-H 'Content-Type: text/xml; charset=utf-8')
if [ "$version" = 1.2 ]; then
  envelope_namespace=http://www.w3.org/2003/05/soap-envelope
  headers=(-H 'Content-Type: application/soap+xml; charset=utf-8')
fi

post() { # endpoint, operation, inputs
  local action=()
  [ "$version" = 1.1 ] && action=(-H "SOAPAction: \"$2\"")
  curl --silent --show-error --max-time 20 "${headers[@]}" "${action[@]}" --data-binary @- "$1" <<XML
<?xml version="1.0" encoding="utf-8"?>
<soap:Envelope xmlns:soap="$envelope_namespace">
  <soap:Body>
    <$2 xmlns="http://schemas.servicestack.net/types">
      <Authentication>
        <ApiUserId>demo</ApiUserId>
        <ApiUserKey>demo-key</ApiUserKey>
      </Authentication>
      $3
    </$2>
  </soap:Body>
</soap:Envelope>
XML
}

# State of a member: value, nil or absent.
presence() { # reply, path
  local node="//*[local-name()='Data']" step
  for step in ${2//./ }; do
    [ "$step" = '?' ] || node="$node/*[local-name()='$step']"
  done
  if [ "$(xmllint --xpath "boolean($node)" - <<<"$1")" = false ]; then
    echo '"absent"'
  elif [ "$(xmllint --xpath "boolean($node[@*[local-name()='nil']='true'])" - <<<"$1")" = true ]; then
    echo '"nil"'
  else
    echo '"value"'
  fi
}

# Value at a path of the table, as JSON.
value() { # reply, path
  local node step expression
  case $2 in
    code) node="//*[local-name()='faultcode' or local-name()='Value']" ;;
    message) node="//*[local-name()='faultstring' or local-name()='Text']" ;;
    *) node="/*/*[local-name()='Body']/*/*[local-name()='Data']" ;;
  esac
  expression="string($node)"
  if [[ $2 == *.'?' ]]; then
    presence "$1" "$2"
    return
  fi
  if [ "$2" = code ]; then
    expression="substring-after(string($node), ':')"
  elif [ "$2" != message ]; then
    for step in ${2//./ }; do
      case $step in
        '#') expression="count($node)" ;;
        [0-9]*) node="$node[$((step + 1))]" expression="string($node)" ;;
        *) node="$node/*[local-name()='$step']" expression="string($node)" ;;
      esac
    done
  fi
  local present="boolean($node[not(@*[local-name()='nil']='true')])"
  case $expression in count*) present='true()' ;; esac
  if [ "$(xmllint --xpath "$present" - <<<"$1")" = false ]; then
    echo null
    return
  fi
  local text
  text=$(xmllint --xpath "$expression" - <<<"$1")
  case $2 in *DocumentBytes) text=$(base64 -d <<<"$text" | head -c 4)" $(base64 -d <<<"$text" | wc -c)" ;; esac
  jq -n --arg text "$text" '$text'
}

check() { # operation, situation, inputs
  local endpoint=$ENDPOINT reply
  [ "$2" = fault ] && endpoint=$FAULT_ENDPOINT
  reply=$(post "$endpoint" "$1" "$3")
  jq -r --arg operation "$1" --arg situation "$2" \
    '.[] | select(.operation == $operation and .situation == $situation) | .read | keys_unsorted[]' "$CHECKS" |
    while read -r path; do value "$reply" "$path"; done |
    jq -sc --arg operation "$1" --arg situation "$2" '{$operation, $situation, got: .}'
}

echo '{"situation":"import","error":"curl reads no WSDL"}'
strings='xmlns:a="http://schemas.microsoft.com/2003/10/Serialization/Arrays"'
check UpdateSubUser call "<Request><Permissions $strings><a:string>bob</a:string><a:string>owner</a:string></Permissions><SubUserName>jane</SubUserName></Request>"
check UpdateValidId call '<Request><ClientInResults>true</ClientInResults><ClientNotInResults>false</ClientNotInResults><Id>1</Id></Request>'
check AddClientTemplate call ''
check GetDbsSearch call '<Id>5</Id><SubUserName>jane</SubUserName>'
check RenewAllPepSearches call '<Request><RenewalDate>2030-01-31T12:00:00</RenewalDate></Request>'
check DeleteClient call '<Id>7</Id>'
check GetSearch call '<Request><SubUserName>jane</SubUserName><OnlyShowUnresolvedResults>1</OnlyShowUnresolvedResults><Id>1</Id></Request>'
check CostRenewAllPepSearches call '<Request><RenewalDate>2030-01-31T12:00:00</RenewalDate></Request>'
check GetPdf call '<Request><Id>42</Id><SubUserName>jane</SubUserName></Request>'
check CountIncompleteClients call '<DaysIncomplete>7</DaysIncomplete><IsValidateMe>true</IsValidateMe><State>PendingCompletion</State>'
check GetEulaStatus call '<Request><SubUserName>jane</SubUserName></Request>'
check GetValidIds call '<Request><SubUserName>jane</SubUserName><Page>3</Page><SortOrder>nameAsc</SortOrder><NameSearch>  x  </NameSearch><FilterReference>REF 1</FilterReference><FilterType>2</FilterType><FilterDateFrom>2024-02-29T13:14:15</FilterDateFrom><FilterDateTo>2024-03-31T23:59:59</FilterDateTo><FilterUserName>jane</FilterUserName></Request>'
check GetPdf int64 '<Request><Id>9007199254740993</Id><SubUserName>jane</SubUserName></Request>'
check RenewAllPepSearches decimal '<Request><RenewalDate>2030-02-28T12:00:00</RenewalDate></Request>'
check UpdateSubUser emoji "<Request><Permissions $strings><a:string>😀</a:string><a:string>Zoë &amp; &lt;漢字&gt;</a:string></Permissions><SubUserName>jane &#x1F600;</SubUserName></Request>"
check UpdateSubUser null-empty '<Request><SubUserName>jane</SubUserName></Request>'
check UpdateSubUser null-absent '<Request><SubUserName>nil</SubUserName></Request>'
check GetValidIds null-sent '<Request><FilterReference i:nil="true" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"/><FilterType>2</FilterType><Page>4</Page></Request>'
check GetValidIds absent-sent '<Request><FilterReference/><FilterType>2</FilterType><Page>5</Page></Request>'
check UpdateSubUser empty-array '<Request><Permissions/><SubUserName>jane</SubUserName></Request>'
check GetValidIds date-no-zone '<Request><FilterDateFrom>2024-02-29T13:14:15</FilterDateFrom><Page>1</Page></Request>'
check GetValidIds date-zone '<Request><FilterDateFrom>2024-02-29T23:30:00-05:00</FilterDateFrom><Page>1</Page></Request>'
check GetSearch nested-array '<Request><Id>2</Id><OnlyShowUnresolvedResults>true</OnlyShowUnresolvedResults><SubUserName>jane</SubUserName></Request>'
check GetPdf base64 '<Request><Id>43</Id><SubUserName>jane</SubUserName></Request>'
check DeleteClient map '<Id>8</Id>'
check DeleteClient in-band-error '<Id>404</Id>'
check DeleteClient fault '<Id>404</Id>'
