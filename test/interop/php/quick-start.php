<?php

/** The examples of docs/clients/php.md. */

$wsdl = $argv[1];

// docs:begin call
$client = new SoapClient($wsdl, [
    'soap_version' => SOAP_1_2,
    'features' => SOAP_SINGLE_ELEMENT_ARRAYS, // an array stays one when it has one item
]);
$credentials = ['ApiUserId' => 'demo', 'ApiUserKey' => 'demo-key'];

$data = $client->GetSearch([
    'Authentication' => $credentials,
    'Request' => ['Id' => 1, 'OnlyShowUnresolvedResults' => true, 'SubUserName' => 'jane'],
])->Data;
if (isset($data->ResponseStatus->ErrorCode)) {
    throw new RuntimeException($data->ResponseStatus->Message);
}
echo $data->SearchRecord->NumOfResults, ' results for ', $data->SearchRecord->SearchCriteria->Name, "\n";
// docs:end call

// docs:begin array
$data = $client->UpdateSubUser([
    'Authentication' => $credentials,
    'Request' => ['SubUserName' => 'jane', 'Permissions' => ['string' => ['bob', 'owner']]],
])->Data;
echo $data->SubUser->UserName, ' sees the searches of ', implode(', ', $data->SubUser->Permissions->string), "\n";
// docs:end array

// docs:begin headers
$context = stream_context_create(['http' => ['header' => "X-Api-User: demo\r\nX-Api-Key: demo-key"]]);
$client = new SoapClient($wsdl, ['soap_version' => SOAP_1_2, 'stream_context' => $context]);
echo $client->GetEulaStatus(['Request' => ['SubUserName' => 'jane']])->Data->AgreeToContactInfo, "\n";
// docs:end headers
