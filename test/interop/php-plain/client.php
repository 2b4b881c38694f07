<?php

/** Makes the checks with PHP's SoapClient without a WSDL: names and nesting are written by hand. */

require '../php/checks.php';

const TYPES = 'http://schemas.servicestack.net/types';
const ARRAYS = 'http://schemas.microsoft.com/2003/10/Serialization/Arrays';
const INSTANCE = 'http://www.w3.org/2001/XMLSchema-instance';

[, , $version] = $argv;

/** Creates an element for SoapClient without types: text, nested elements, or the XML of a nil or empty value. */
function element(string $name, mixed $value): SoapVar
{
    if ($value === null) return new SoapVar("<t:$name xmlns:t=\"" . TYPES . '" xmlns:i="' . INSTANCE . '" i:nil="true"/>', XSD_ANYXML);
    if (is_bool($value)) return new SoapVar($value, XSD_BOOLEAN, null, null, $name, TYPES);
    if (!is_array($value)) return new SoapVar((string) $value, XSD_STRING, null, null, $name, TYPES);
    $items = isset($value['string'])
        ? array_map(fn ($item) => new SoapVar($item, XSD_STRING, null, null, 'string', ARRAYS), $value['string'])
        : array_map(element(...), array_keys($value), $value);
    return new SoapVar($items, SOAP_ENC_OBJECT, null, null, $name, TYPES);
}

/** Without a WSDL a single item is not a list, so the paths identify lists. */
function listed(mixed $value, array $paths): mixed
{
    foreach ($paths as $path) {
        if (!preg_match_all('/\.(\w+)\.(?=\d|#)/', $path, $matches)) continue;
        foreach ($matches[1] as $name) $lists[$name] = true;
    }
    $walk = function (mixed $value) use (&$walk, &$lists): mixed {
        if (!is_object($value)) return is_array($value) ? array_map($walk, $value) : $value;
        foreach (get_object_vars($value) as $name => $member) {
            $inner = $walk($member);
            $value->$name = isset($lists[$name]) && !is_array($inner) && !isset($inner->$name) ? [$inner] : $inner;
        }
        return $value;
    };
    return $walk($value);
}

say(['situation' => 'import', 'error' => 'no WSDL is read']);
makeCalls(function (array $check, string $address) use ($version): mixed {
    $client = new SoapClient(null, [
        'location' => $address,
        'uri' => TYPES,
        'soap_version' => $version === '1.1' ? SOAP_1_1 : SOAP_1_2,
        'style' => SOAP_DOCUMENT,
        'use' => SOAP_LITERAL,
    ]);
    $inputs = ['Authentication' => CREDENTIALS] + $check['input'];
    try {
        $body = element($check['operation'], $inputs);
        $data = $client->__soapCall($check['operation'], [$body], ['soapaction' => $check['operation']]);
        $data = listed($data, array_keys($check['read']));
        if ($check['situation'] === 'base64') {
            // the library leaves decoding base64 to its caller
            $data->Document->DocumentBytes = base64_decode($data->Document->DocumentBytes);
        }
        return $data;
    } catch (SoapFault $fault) {
        $code = explode(':', $fault->faultcode);
        return ['code' => end($code), 'message' => $fault->getMessage()];
    }
});
