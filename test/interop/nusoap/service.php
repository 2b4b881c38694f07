<?php

/** A service, called with NuSOAP: service.php SERVICE WSDL_URL OUT_DIR */

error_reporting(E_ERROR);
[, $service, $wsdl, $out] = $argv;
require '../php/service-check.php';
require "$out/nusoap.php";

$client = new nusoap_client($wsdl, 'wsdl');
$client->soap_defencoding = 'UTF-8';
$client->decode_utf8 = false;

$call = function (string $operation, array $input, string $headers = '') use ($client): mixed {
    $reply = $client->call($operation, [$input], '', '', $headers ?: false);
    if ($client->fault) throw new Exception(json_encode($reply['detail'] ?: $reply['faultstring']));
    if ($client->getError()) throw new RuntimeException($client->getError());
    return $reply;
};

function shop(callable $call): void
{
    $get = fn (int $id) => $call('getItem', ['id' => $id])['Result'];
    $item = $get(1);
    check('read', fn() => [
        $item['name'], $item['price'], $item['weight'], $item['stock'], $item['added'], $item['expires'] ?? null,
        $item['rating'] ?? null, $item['returnable'], $item['note'] ?? null, count($item['tags']['string']),
        $item['tags']['string'][1],
    ]);
    check('change', function () use ($call, $item, $get) {
        $item['name'] = 'Ö & Co';
        $call('putItem', ['id' => 1, 'Body' => $item]);
        $back = $get(1);
        return [$back['name'], $back['price'], $back['weight'], $back['rating'] ?? null];
    });
    check('fault', function () use ($get) {
        try {
            $get(404);
        } catch (Exception $fault) {
            return [json_decode($fault->getMessage())->FaultDetail->status];
        }
    });
}

function orders(callable $call): void
{
    $header = '<SessionHeader xmlns="http://orders.example/"><session>abc</session><branch>north</branch></SessionHeader>';
    $get = fn (int $id) => $call('GetOrder', ['orderId' => $id], $header)['GetOrderResult'];
    $order = $get(1);
    check('read', fn() => [
        $order['!id'], $order['Total'], $order['Status'], $order['Placed'], $order['Shipped'] ?: null, count($order['Line']),
        $order['Line'][0]['!quantity'], $order['Line'][1]['Price'], $order['Card']['Last4'], $order['Invoice'] ?? null,
        $order['Customer']['Name'], $order['Customer']['Phone']['!'] ?? $order['Customer']['Phone'],
        $order['Customer']['Phone']['!kind'],
    ]);
    check('polymorphism', fn() => [preg_replace('/.*:/', '', $order['Customer']['!type'] ?? ''), $order['Customer']['VatId']]);
    check('list', fn() => [count($order['Labels']['string']), $order['Labels']['string'][0], $order['Labels']['string'][1] ?: null]);
    check('header', fn() => [$GLOBALS['client']->responseHeader['QuotaHeader']['callsLeft']]);
    check('any', fn() => [$order['crate']]);
    check('write', function () use ($call, $get, $header) {
        $line = fn ($quantity, $article, $price) => ['!quantity' => $quantity, 'Article' => $article, 'Price' => $price];
        $placed = $call('PlaceOrder', ['order' => [
            '!id' => 0, '!version' => '2',
            'Customer' => ['!xsi:type' => 'ns1:BusinessCustomer', 'Name' => 'Ö & Co', 'Phone' => ['!kind' => 'mobile', '!' => '555'], 'VatId' => 'AT9'],
            'Placed' => '2020-02-29T12:00:00', 'Total' => '10.25', 'Status' => 'Shipped',
            'Line' => [$line(3, 'Screws', '3.25'), $line(1, 'Rope', '0.50')],
            'Labels' => ['string' => ['one', 'two']], 'Invoice' => 'I-1',
        ]], $header)['PlaceOrderResult'];
        $back = $get($placed);
        return [
            $back['Customer']['Name'], $back['Customer']['Phone']['!kind'], $back['Customer']['VatId'],
            $back['Shipped'] ?: null, $back['Total'], $back['Line'][1]['Article'], $back['Invoice'], $back['Card'] ?? null,
        ];
    });
    check('fault', function () use ($get) {
        try {
            $get(404);
        } catch (Exception $fault) {
            $detail = json_decode($fault->getMessage())->OrderNotFound;
            return [$detail->orderId, $detail->hint];
        }
    });
    check('empty reply', function () use ($call, $get, $header) {
        $call('CancelOrder', ['orderId' => 1], $header);
        return [$get(1)['Status']];
    });
}

['shop' => 'shop', 'orders' => 'orders'][$service]($call);
