package Checks;

# Code shared by the Perl stacks.

use strict;
use warnings;
use JSON::PP;
use Exporter 'import';
our @EXPORT_OK = qw(make_checks say_line);

# Returns the checks in order: inputs as nested hashes and arrays, and the paths to read.
sub table {
    my (@checks, %known);
    open my $rows, '-|:encoding(UTF-8)', 'node', '../flat-checks.ts' or die "node: $!";
    while (my $row = <$rows>) {
        chomp $row;
        my ($operation, $situation, $kind, $path, $value) = split /\t/, $row, -1;
        my $check = $known{"$operation $situation"} //= do {
            push @checks, { operation => $operation, situation => $situation, input => {}, read => [] };
            $checks[-1];
        };
        if    ($kind eq 'read') { push @{ $check->{read} }, $path }
        elsif ($kind eq 'null') { put($check->{input}, undef, split /\./, $path) }
        else                    { put($check->{input}, $value, split /\./, $path) }
    }
    close $rows or die "flat-checks.ts: $?";
    return @checks;
}

sub put {
    my ($into, $value, $step, @steps) = @_;
    my $place = ref $into eq 'ARRAY' ? \$into->[$step] : \$into->{$step};
    if (!@steps)               { $$place = $value }
    elsif ($steps[0] eq '#')   { $$place = [] }
    else                       { put($$place //= {}, $value, @steps) }
}

# Returns the value at a path; undef if it ends early. An element that occurs once is not an array in these stacks.
sub at {
    my ($value, $path) = @_;
    my @steps = split /\./, $path;
    for my $index (0 .. $#steps) {
        return undef unless defined $value;
        my $step = $steps[$index];
        return ref $value eq 'ARRAY' ? scalar @$value : 1 if $step eq '#';
        $value = ref $value eq 'ARRAY' ? $value->[$step] : ref $value ? $value->{$step} : undef;
        # an array without an item is empty
        $value //= [] if ($steps[ $index + 1 ] // '') eq '#';
    }
    return $value;
}

# Returns the state of a record's member.
sub presence {
    my ($value, $path) = @_;
    my ($record, $name) = $path =~ /^(.*)\.(.*)\.\?$/;
    my $found = at($value, $record);
    return 'absent' unless exists $found->{$name};
    return defined $found->{$name} ? 'value' : 'nil';
}

sub printed {
    my ($value, $path) = @_;
    return undef unless defined $value;
    return sprintf '%s %d', substr($value, 0, 4), length $value if $path =~ /DocumentBytes$/;
    return "$value";
}

sub say_line {
    print JSON::PP->new->utf8->encode($_[0]), "\n";
}

# Makes all checks. $read->($check, $address) returns the reply's Data, or a fault's code and message.
sub make_checks {
    my ($read) = @_;
    for my $check (table()) {
        my %line = (operation => $check->{operation}, situation => $check->{situation});
        my $address = $ENV{ $check->{situation} eq 'fault' ? 'FAULT_ENDPOINT' : 'ENDPOINT' };
        my $data = eval { $read->($check, $address) };
        if (defined $data) { $line{got} = [ map { /\?$/ ? presence($data, $_) : printed(at($data, $_), $_) } @{ $check->{read} } ] }
        else               { $line{error} = $@ || 'no reply' }
        say_line(\%line);
    }
}

1;
