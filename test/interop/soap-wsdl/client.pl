# Makes the checks with SOAP::WSDL and the classes that wsdl2perl generates. It supports only SOAP 1.1.

use strict;
use warnings;
use MIME::Base64;
use ScreeningInterfaces::ScreeningApi::Soap11;
use Checks qw(make_checks);

make_checks(sub {
    my ($check, $address) = @_;
    my $client = ScreeningInterfaces::ScreeningApi::Soap11->new({ proxy => $address });
    my $operation = $check->{operation};
    my $credentials = { ApiUserId => 'demo', ApiUserKey => 'demo-key' };
    my $reply = $client->$operation({ Authentication => $credentials, %{ $check->{input} } });
    if (!$reply) {
        return { code => $reply->get_faultcode =~ s/.*://r, message => $reply->get_faultstring };
    }
    my $data = $reply->as_hash_ref->{Data};
    # the library leaves decoding base64 to its caller
    $data->{Document}{DocumentBytes} = decode_base64($data->{Document}{DocumentBytes})
        if $check->{situation} eq 'base64';
    return $data;
});
