<?php

/** The checks as a program with PHP's own SoapClient makes them. */

require 'checks.php';

[, $wsdl, $version] = $argv;

$client = new SoapClient($wsdl, [
    'soap_version' => $version === '1.1' ? SOAP_1_1 : SOAP_1_2,
    'features' => SOAP_SINGLE_ELEMENT_ARRAYS,
    'cache_wsdl' => WSDL_CACHE_NONE,
]);

makeChecks(function (array $check, string $address) use ($client): mixed {
    $client->__setLocation($address);
    try {
        $input = $check['input'] + ['Authentication' => CREDENTIALS];
        return $client->__soapCall($check['operation'], [$input])->Data;
    } catch (SoapFault $fault) {
        $code = explode(':', $fault->faultcode);
        return ['code' => end($code), 'message' => $fault->getMessage()];
    }
});
