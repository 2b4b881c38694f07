# The adopted .asmx service, called with the classes that wsdl2perl generates: service-orders.pl ADDRESS

use strict;
use warnings;
use utf8;
use AdoptedInterfaces::Orders::OrdersSoap;
use Services qw(check);

my $client = AdoptedInterfaces::Orders::OrdersSoap->new({ proxy => $ARGV[0] });
my $session = { session => 'abc', branch => 'north' };

sub get {
    my ($body, $header) = $client->GetOrder({ orderId => $_[0] }, $session);
    die $body unless $body;
    return $body->get_GetOrderResult, $header;
}

sub value { defined $_[0] ? $_[0]->get_value : undef }

my ($order, $quota) = get(1);
check('read', sub {
    my @lines = @{ $order->get_Line };
    my $customer = $order->get_Customer;
    return value($order->attr->get_id), map({ value($_) } $order->get_Total, $order->get_Status, $order->get_Placed,
        $order->get_Shipped), scalar @lines, value($lines[0]->attr->get_quantity), map({ value($_) } $lines[1]->get_Price,
        $order->get_Card->get_Last4, $order->get_Invoice, $customer->get_Name, $customer->get_Phone),
        value($customer->get_Phone->attr->get_kind);
});
check('list', sub {
    my @labels = @{ $order->get_Labels->get_string };
    return scalar @labels, map { value($_) } @labels[0, 1];
});
check('header', sub { value($quota->get_callsLeft) });
check('fault', sub {
    eval { get(404) };
    my $detail = $@->get_detail->get_OrderNotFound;
    return map { value($_) } $detail->get_orderId, $detail->get_hint;
});
check('empty reply', sub {
    my $reply = $client->CancelOrder({ orderId => 1 }, $session);
    die $reply unless $reply;
    my ($cancelled) = get(1);
    return value($cancelled->get_Status);
});
