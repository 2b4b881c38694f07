<?php

/** Makes the checks with NuSOAP, which supports only SOAP 1.1. */

error_reporting(E_ERROR);
[, $wsdl, , $out] = $argv;
require '../php/checks.php';
require "$out/nusoap.php";

$client = new nusoap_client($wsdl, 'wsdl');
$client->soap_defencoding = 'UTF-8';
$client->decode_utf8 = false;

makeChecks(function (array $check, string $address) use ($client): mixed {
    $client->setEndpoint($address);
    $client->forceEndpoint = $address;
    $reply = $client->call($check['operation'], [['Authentication' => CREDENTIALS] + $check['input']]);
    if ($client->fault) {
        $code = explode(':', $reply['faultcode']);
        return ['code' => end($code), 'message' => $reply['faultstring']];
    }
    if ($client->getError()) throw new RuntimeException($client->getError());
    if ($check['situation'] === 'base64') {
        // the library leaves decoding base64 to its caller
        $reply['Data']['Document']['DocumentBytes'] = base64_decode($reply['Data']['Document']['DocumentBytes']);
    }
    return $reply['Data'];
});
