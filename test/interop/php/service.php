<?php
// A service, called with PHP's SoapClient: service.php SERVICE WSDL_URL OUT_DIR VERSION

require '../php/service-check.php';

// classes of the schema's types, without which a derived value loses its type
class Customer { public $Name; public $Phone; public $name; }
class BusinessCustomer extends Customer { public $VatId; public $vatId; }
class Book {}
class Disc {}

[, $service, $wsdl, , $version] = $argv;
$classes = ['Customer', 'BusinessCustomer', 'Book', 'Disc'];
$client = new SoapClient($wsdl, [
    'exceptions' => true,
    'soap_version' => $version === '1.1' ? SOAP_1_1 : SOAP_1_2,
    'classmap' => array_combine($classes, $classes),
    'features' => SOAP_SINGLE_ELEMENT_ARRAYS,
]);

/** A date and time without its zone. */
function wall(?string $date): ?string
{
    return $date === null ? null : rtrim($date, 'Z');
}

function derived(string $namespace, string $type, array $members): SoapVar
{
    return new SoapVar((object) $members, SOAP_ENC_OBJECT, $type, $namespace);
}

function shop(SoapClient $client): void
{
    $get = fn (int $id) => $client->getItem(['id' => $id])->Result;
    $item = $get(1);
    check('read', fn() => [
        $item->name, $item->price, $item->weight, $item->stock, $item->added, $item->expires ?? null,
        $item->rating ?? null, $item->returnable, $item->note ?? null, count($item->tags->string),
        $item->tags->string[1],
    ]);
    check('change', function () use ($client, $item, $get) {
        $item->name = 'Ö & Co';
        $client->putItem(['id' => 1, 'Body' => $item]);
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

function orders(SoapClient $client): void
{
    $namespace = 'http://orders.example/';
    $header = new SoapHeader($namespace, 'SessionHeader', ['session' => 'abc', 'branch' => 'north']);
    $headers = [];
    $get = function (int $id) use ($client, $header, &$headers) {
        return $client->__soapCall('GetOrder', [['orderId' => $id]], null, $header, $headers)->GetOrderResult;
    };
    $order = $get(1);
    check('read', fn() => [
        $order->id, $order->Total, $order->Status, $order->Placed, $order->Shipped, count($order->Line),
        $order->Line[0]->quantity, $order->Line[1]->Price, $order->Card->Last4, $order->Invoice ?? null,
        $order->Customer->Name, $order->Customer->Phone->_, $order->Customer->Phone->kind,
    ]);
    check('polymorphism', fn() => [get_class($order->Customer), $order->Customer->VatId]);
    check('list', fn() => [count($order->Labels->string), $order->Labels->string[0], $order->Labels->string[1]]);
    check('header', fn() => [$headers['QuotaHeader']->callsLeft]);
    check('any', fn() => [strip_tags($order->any)]);
    $placed = null;
    check('write', function () use ($client, $header, $get, $namespace, &$placed) {
        $customer = new BusinessCustomer();
        [$customer->Name, $customer->Phone, $customer->VatId] = ['Ö & Co', ['_' => '555', 'kind' => 'mobile'], 'AT9'];
        $placed = $client->__soapCall('PlaceOrder', [['order' => [
            'id' => 0, 'version' => '2', 'Customer' => $customer, 'Placed' => '2020-02-29T12:00:00', 'Shipped' => null,
            'Total' => '10.25', 'Status' => 'Shipped',
            'Line' => [
                ['quantity' => 3, 'Article' => 'Screws', 'Price' => '3.25'],
                ['quantity' => 1, 'Article' => 'Rope', 'Price' => '0.50'],
            ],
            'Labels' => ['string' => ['one', 'two']], 'Invoice' => 'I-1',
        ]]], null, $header)->PlaceOrderResult;
        $back = $get($placed);
        return [
            $back->Customer->Name, $back->Customer->Phone->kind, $back->Customer->VatId, $back->Shipped, $back->Total,
            $back->Line[1]->Article, $back->Invoice, $back->Card ?? null,
        ];
    });
    check('fault', function () use ($get) {
        try {
            $get(404);
        } catch (SoapFault $fault) {
            return [$fault->detail->OrderNotFound->orderId, $fault->detail->OrderNotFound->hint];
        }
        return [];
    });
    check('empty reply', function () use ($client, $header, $get, &$placed) {
        $client->__soapCall('CancelOrder', [['orderId' => $placed]], null, $header);
        return [$get($placed)->Status];
    });
}

function ordersRpc(SoapClient $client): void
{
    $model = 'http://model.orders.example/';
    $order = $client->getOrder(1);
    check('read', fn() => [
        $order->id, $order->total, $order->note, wall($order->placed), $order->shipped, count($order->lines),
        $order->lines[0]->quantity, $order->lines[1]->price, count($order->labels), $order->labels[1],
        $order->customer->name,
    ]);
    check('polymorphism', fn() => [get_class($order->customer), $order->customer->vatId]);
    $placed = null;
    check('write', function () use ($client, $model, &$placed) {
        $placed = $client->placeOrder([
            'customer' => derived($model, 'BusinessCustomer', ['name' => 'Ö & Co', 'vatId' => 'AT9']),
            'id' => 0, 'labels' => ['one', 'two'],
            'lines' => [
                ['article' => 'Screws', 'price' => '3.25', 'quantity' => 3],
                ['article' => 'Rope', 'price' => '0.50', 'quantity' => 1],
            ],
            'note' => null, 'placed' => null, 'shipped' => null, 'total' => '10.25',
        ]);
        $back = $client->getOrder($placed);
        return [$back->customer->vatId, $back->total, $back->lines[1]->article, $back->labels[1]];
    });
    check('fault', function () use ($client) {
        try {
            $client->getOrder(404);
        } catch (SoapFault $fault) {
            $detail = current((array) $fault->detail)->enc_value; // a SoapVar, since its element is not in the WSDL
            return [$detail->orderId, $detail->hint];
        }
        return [];
    });
    check('one-way', function () use ($client, &$placed) {
        $client->cancelOrder($placed);
        return [$client->getOrder($placed)->note];
    });
}

function catalogue(SoapClient $client): void
{
    $tenant = new SoapHeader('urn:catalogue:service', 'Tenant', ['name' => 'acme']);
    $client->__setSoapHeaders($tenant);
    // SoapClient has no substitution groups, so the substituted element is written by hand
    $find = function (string $criterion, string $member, string $value) use ($client) {
        $c = 'urn:catalogue:criteria';
        $xml = "<c:$criterion xmlns:c=\"$c\"><c:$member>$value</c:$member></c:$criterion>";
        return $client->Find(['limit' => 5, 'Criterion' => [new SoapVar($xml, XSD_ANYXML)]]);
    };
    check('read', function () use ($find) {
        $found = $find('ByPrice', 'AtMost', '20');
        [$first, $second] = $found->Item;
        return [
            $found->more, count($found->Item), $first->Published, $first->Price->_, $first->Price->currency,
            count($first->Keyword), $second->Published, $second->Free, $second->Price ?? null,
        ];
    });
    check('polymorphism', function () use ($find) {
        [$first, $second] = $find('ByPrice', 'AtMost', '20')->Item;
        return [get_class($first) . " $first->Pages", get_class($second) . " $second->Tracks"];
    });
    $add = function () use ($client) {
        $item = new Disc();
        foreach ([
            'sku' => 'd9', 'Title' => 'Storm & Calm', 'Published' => null,
            'Price' => ['_' => '7.05', 'currency' => 'CHF'], 'Keyword' => ['k1'], 'Tracks' => 3,
        ] as $name => $value) $item->$name = $value;
        return $client->Add(['Item' => $item]);
    };
    check('write', function () use ($add, $find) {
        $add();
        $back = $find('ByTitle', 'Contains', 'Storm')->Item[0];
        return [$back->sku, $back->Tracks, $back->Price->_, $back->Price->currency];
    });
    check('fault', function () use ($add) {
        try {
            $add();
        } catch (SoapFault $fault) {
            return [$fault->detail->Duplicate->sku, $fault->detail->Duplicate->title];
        }
        return [];
    });
    check('one-way', function () use ($client, $find) {
        $client->Remove(['sku' => 'd9']);
        return [count($find('ByTitle', 'Contains', 'Storm')->Item ?? [])];
    });
}

['shop' => 'shop', 'orders' => 'orders', 'orders-rpc' => 'ordersRpc', 'catalogue' => 'catalogue'][$service]($client);
