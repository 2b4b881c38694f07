<?php

/** A service, called with PHP's SoapClient without a WSDL: service.php SERVICE WSDL_URL OUT_DIR VERSION */

require '../php/service-check.php';

[, $service, $wsdl, , $version] = $argv;
define('TYPES', ['shop' => 'urn:Shop', 'orders' => 'http://orders.example/'][$service]);

$client = new SoapClient(null, [
    'location' => preg_replace('/\?wsdl$/', '', $wsdl),
    'uri' => TYPES,
    'soap_version' => $version === '1.1' ? SOAP_1_1 : SOAP_1_2,
    'style' => SOAP_DOCUMENT,
    'use' => SOAP_LITERAL,
]);

function element(string $name, mixed $value): SoapVar
{
    if (!is_object($value)) return new SoapVar($value, XSD_STRING, null, null, $name, TYPES);
    $inner = [];
    foreach (get_object_vars($value) as $key => $member) {
        foreach (is_array($member) ? $member : [$member] as $item) $inner[] = element($key, $item);
    }
    return new SoapVar($inner, SOAP_ENC_OBJECT, null, null, $name, TYPES);
}

$received = [];
$call = function (string $operation, array $input, $headers = null) use ($client, $service, &$received): mixed {
    return $client->__soapCall($operation, [element($operation, (object) $input)], ['soapaction' => ($service === 'orders' ? TYPES : '') . $operation], $headers, $received);
};

function shop(callable $call): void
{
    $get = fn (int $id) => $call('getItem', ['id' => $id]);
    $item = $get(1);
    check('read', fn() => [
        $item->name, $item->price, $item->weight, $item->stock, $item->added, $item->expires ?? null, $item->rating ?? null,
        $item->returnable, $item->note ?? null, count($item->tags->string), $item->tags->string[1],
    ]);
    check('change', function () use ($call, $item, $get) {
        $item->name = 'Ö & Co';
        $call('putItem', ['id' => 1, 'Body' => $item]);
        $back = $get(1);
        return [$back->name, $back->price, $back->weight, $back->rating ?? null];
    });
    check('fault', function () use ($get) {
        try {
            $get(404);
        } catch (SoapFault $fault) {
            return [$fault->detail->FaultDetail->status];
        }
    });
}

function orders(callable $call, array &$received): void
{
    $session = new SoapVar('<SessionHeader xmlns="' . TYPES . '"><session>abc</session><branch>north</branch></SessionHeader>', XSD_ANYXML);
    $header = new SoapHeader(TYPES, 'SessionHeader', $session);
    $get = fn (int $id) => $call('GetOrder', ['orderId' => $id], $header);
    $order = $get(1);
    check('list', fn() => [count($order->Labels->string), $order->Labels->string[0], $order->Labels->string[1]]);
    check('header', fn() => [$received['QuotaHeader']->callsLeft]);
    check('any', fn() => [$order->crate]);
    check('empty reply', function () use ($call, $get, $header) {
        $call('CancelOrder', ['orderId' => 1], $header);
        return [$get(1)->Status];
    });
    check('fault', function () use ($get) {
        try {
            $get(404);
        } catch (SoapFault $fault) {
            return [$fault->detail->OrderNotFound->orderId, $fault->detail->OrderNotFound->hint];
        }
    });
}

$service === 'shop' ? shop($call) : orders($call, $received);
