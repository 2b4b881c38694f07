<?php

/** Makes the checks with PHP's own SoapClient. */

require 'checks.php';

[, $wsdl, $version] = $argv;

$options = [
    'soap_version' => $version === '1.1' ? SOAP_1_1 : SOAP_1_2,
    'features' => SOAP_SINGLE_ELEMENT_ARRAYS,
    'cache_wsdl' => WSDL_CACHE_NONE,
];
$keys = getenv('SIGNING');
if ($keys) {
    require 'SigningClient.php';
    $client = new SigningClient(
        $wsdl, $options, "$keys/caller.key", "$keys/caller.crt", getenv('GATEWAY_CERTIFICATE'));
} else {
    $client = new SoapClient($wsdl, $options);
}

// docs:begin security
/** A hand-written header block, since SoapClient has no WS-Security. */
function usernameToken(string $kind): SoapHeader
{
    $oasis = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-';
    $nonce = random_bytes(16);
    $created = gmdate('Y-m-d\TH:i:s\Z');
    [$type, $password] = $kind === 'digest'
        ? ['PasswordDigest', base64_encode(sha1($nonce . $created . 'demo-key', true))]
        : ['PasswordText', 'demo-key'];
    $nonce = base64_encode($nonce);
    $secext = "{$oasis}wssecurity-secext-1.0.xsd";
    $xml = "<wsse:Security xmlns:wsse=\"$secext\" xmlns:wsu=\"{$oasis}wssecurity-utility-1.0.xsd\"><wsse:UsernameToken>"
        . '<wsse:Username>demo</wsse:Username>'
        . "<wsse:Password Type=\"{$oasis}username-token-profile-1.0#$type\">$password</wsse:Password>"
        . "<wsse:Nonce>$nonce</wsse:Nonce><wsu:Created>$created</wsu:Created></wsse:UsernameToken></wsse:Security>";
    return new SoapHeader($secext, 'Security', new SoapVar($xml, XSD_ANYXML), true);
}
// docs:end security

makeChecks(function (array $check, string $address) use ($client): mixed {
    $client->__setLocation($address);
    try {
        $security = getenv('SECURITY');
        $client->__setSoapHeaders($security ? [usernameToken($security)] : null);
        $input = $check['input'] + ($security ? [] : ['Authentication' => CREDENTIALS]);
        return $client->__soapCall($check['operation'], [$input])->Data;
    } catch (SoapFault $fault) {
        $code = explode(':', $fault->faultcode);
        return ['code' => end($code), 'message' => $fault->getMessage()];
    }
});
