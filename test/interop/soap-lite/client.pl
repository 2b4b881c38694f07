# Makes the checks with SOAP::Lite: calls built element by element.

use strict;
use warnings;
use MIME::Base64;
use SOAP::Lite;
use Checks qw(make_checks say_line);

my (undef, $version) = @ARGV;
my $types  = 'http://schemas.servicestack.net/types';
my $arrays = 'http://schemas.microsoft.com/2003/10/Serialization/Arrays';

# The elements of a record. SOAP::Lite chooses their types, and encodes non-ASCII texts as base64.
sub elements {
    my ($record) = @_;
    return map { element("t:$_", $record->{$_}) } sort keys %$record;
}

sub element {
    my ($name, $value) = @_;
    return SOAP::Data->name($name, $value) unless ref $value;
    my @items = map { SOAP::Data->name('a:string', $_) } @{ $value->{string} // [] };
    my @inner = $value->{string} ? @items : elements($value);
    return SOAP::Data->name($name => @inner ? \SOAP::Data->value(@inner) : '');
}

say_line({ situation => 'import', error => 'makes no nested inputs from a WSDL' });
make_checks(sub {
    my ($check, $address) = @_;
    my $client = SOAP::Lite->soapversion($version)->proxy($address)->on_action(sub { $check->{operation} });
    $client->ns($types, 't');
    $client->serializer->register_ns($arrays, 'a');
    my $credentials = element('t:Authentication', { ApiUserId => 'demo', ApiUserKey => 'demo-key' });
    my $som = $client->call(SOAP::Data->name("t:$check->{operation}"), $credentials, elements($check->{input}));
    if ($som->fault) {
        return { code => $som->faultcode =~ s/.*://r, message => $som->faultstring };
    }
    my $data = $som->result;
    # the library leaves decoding base64 to its caller
    $data->{Document}{DocumentBytes} = decode_base64($data->{Document}{DocumentBytes})
        if $check->{situation} eq 'base64';
    return $data;
});
