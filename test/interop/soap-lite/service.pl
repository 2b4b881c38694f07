# A service, called with SOAP::Lite: calls built element by element. service.pl SERVICE WSDL_URL OUT_DIR VERSION

use strict;
use warnings;
use utf8;
use SOAP::Lite;
use Services qw(check);

my ($service, $wsdl, undef, $version) = @ARGV;
my $address = $wsdl =~ s/\?wsdl$//r;
my $namespace = { shop => 'urn:Shop', orders => 'http://orders.example/' }->{$service};
my $client = SOAP::Lite->soapversion($version)->proxy($address)->on_action(sub { ($service eq 'orders' ? $namespace : '') . $_[1] =~ s/.*://r });
$client->ns($namespace, 't');
# SOAP::Lite guesses other types than those of the WSDL
$client->serializer->autotype(0) if $service eq 'orders';

# SOAP::Lite escapes only values with a type
sub text {
    my ($name, $value) = @_;
    return SOAP::Data->name("t:$name", $service eq 'orders' ? SOAP::Utils::encode_data($value) : $value);
}


sub element { my ($name, @inner) = @_; SOAP::Data->name("t:$name" => \SOAP::Data->value(@inner)) }

sub call {
    my ($operation, @inner) = @_;
    my $som = $client->call(SOAP::Data->name("t:$operation"), @inner);
    die $som if $som->fault;
    return $som;
}

sub shop {
    my $get = sub { call('getItem', text(id => $_[0]))->result };
    my $item = $get->(1);
    check('read', sub {
        my @tags = @{ $item->{tags}{string} };
        return @$item{qw(name price weight stock added expires rating returnable note)}, scalar @tags, $tags[1];
    });
    check('change', sub {
        $item->{name} = 'Ö & Co';
        my @members = map { text($_ => $item->{$_}) } grep { $_ ne 'tags' } sort keys %$item;
        my @tags = map { text(string => $_) } @{ $item->{tags}{string} };
        call('putItem', text(id => 1), element(Body => @members, element(tags => @tags)));
        return @{ $get->(1) }{qw(name price weight rating)};
    });
    check('fault', sub {
        eval { $get->(404) };
        return $@->faultdetail->{FaultDetail}{status};
    });
}

sub orders {
    my $header = SOAP::Header->name('t:SessionHeader' => \SOAP::Data->value(text(session => 'abc'), text(branch => 'north')));
    my $get = sub { call('GetOrder', $header, text(orderId => $_[0])) };
    my $som = $get->(1);
    my $order = $som->result;
    my $attribute = sub { $_[0]->dataof($_[1])->attr->{ $_[2] } };
    my $in = '//GetOrderResult';
    check('read', sub {
        my @lines = $som->valueof("$in/Line");
        return $attribute->($som, $in, 'id'), @$order{qw(Total Status Placed Shipped)}, scalar @lines,
            $attribute->($som, "$in/[6]", 'quantity'), $lines[1]{Price}, $order->{Card}{Last4}, $order->{Invoice},
            $order->{Customer}{Name}, $order->{Customer}{Phone}, $attribute->($som, "$in/Customer/Phone", 'kind');
    });
    check('polymorphism', sub {
        my $type = $attribute->($som, "$in/Customer", '{http://www.w3.org/2001/XMLSchema-instance}type');
        return $type =~ s/.*[:}]//r, $order->{Customer}{VatId};
    });
    check('list', sub {
        my @labels = @{ $order->{Labels}{string} };
        return scalar @labels, @labels[0, 1];
    });
    check('header', sub { $som->valueof('//QuotaHeader/callsLeft') });
    check('any', sub { $order->{crate} });
    my $placed;
    check('write', sub {
        my $line = sub { element(Line => text(Article => $_[1]), text(Price => $_[2]))->attr({ quantity => $_[0] }) };
        my $customer = element(Customer => text(Name => 'Ö & Co'), text(Phone => '555')->attr({ kind => 'mobile' }), text(VatId => 'AT9'));
        my $order = element(order =>
            $customer->attr({ 'xsi:type' => 't:BusinessCustomer' }),
            text(Placed => '2020-02-29T12:00:00'), text(Shipped => undef), text(Total => '10.25'), text(Status => 'Shipped'),
            $line->(3, 'Screws', '3.25'), $line->(1, 'Rope', '0.50'),
            element(Labels => text(string => 'one'), text(string => 'two')), text(Invoice => 'I-1'));
        $placed = call('PlaceOrder', $header, $order->attr({ id => 0, version => 2 }))->result;
        my $back = $get->($placed);
        my $order2 = $back->result;
        return $order2->{Customer}{Name}, $attribute->($back, "$in/Customer/Phone", 'kind'), $order2->{Customer}{VatId},
            @$order2{qw(Shipped Total)}, ($back->valueof("$in/Line"))[1]{Article}, $order2->{Invoice}, $order2->{Card};
    });
    check('fault', sub {
        eval { $get->(404) };
        return @{ $@->faultdetail->{OrderNotFound} }{qw(orderId hint)};
    });
    check('empty reply', sub {
        call('CancelOrder', $header, text(orderId => $placed));
        return $get->($placed)->result->{Status};
    });
}

{ shop => \&shop, orders => \&orders }->{$service}->();
