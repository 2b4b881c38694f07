# The service of an OpenAPI document, called with the classes that wsdl2perl generates: service-shop.pl ADDRESS

use strict;
use warnings;
use utf8;
use AdoptedInterfaces::Shop::Soap11;
use Services qw(check);

my $client = AdoptedInterfaces::Shop::Soap11->new({ proxy => $ARGV[0] });

sub get {
    my $reply = $client->getItem({ id => $_[0] });
    die $reply unless $reply;
    return $reply->as_hash_ref->{Result};
}

my $item = get(1);
check('read', sub {
    my @tags = @{ $item->{tags}{string} };
    return @$item{qw(name price weight stock added expires rating returnable note)}, scalar @tags, $tags[1];
});
check('change', sub {
    $item->{name} = 'Ö & Co';
    my $reply = $client->putItem({ id => 1, Body => $item });
    die $reply unless $reply;
    return @{ get(1) }{qw(name price weight rating)};
});
check('fault', sub {
    eval { get(404) };
    return $@->get_detail->get_FaultDetail->get_status->get_value;
});
