package Services;

# Prints the values that a check of a service reads, or its error.

use strict;
use warnings;
use JSON::PP;
use Exporter 'import';
our @EXPORT_OK = qw(check);

sub check {
    my ($situation, $read) = @_;
    my $got = eval { [ map { defined $_ ? "$_" : undef } $read->() ] };
    my %line = (situation => $situation, defined $got ? (got => $got) : (error => ref $@ && $@->can('faultstring') ? $@->faultstring : "$@"));
    print JSON::PP->new->utf8->encode(\%line), "\n";
}

1;
