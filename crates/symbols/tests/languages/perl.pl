#!/usr/bin/perl
# sub commented { 1 }
use strict;
use constant LIMIT => 10;
use constant 'QUOTED' => 'sub in_string {';
use constant {
    FIRST  => 1,    # a => comment
    SECOND => { inner => 2 },
    "third", [ nested => 1 ],
};
use constant 1.03;

our $VERSION = '1.0';
our (@list, %map, $last) = ();
my $local = 1;

sub before_package { return $_[0] }

=head1 NAME

sub in_pod { 1 }

=cut

package Shop::Order 1.02;

sub declared;
sub prototyped($;$) : lvalue {
    my ($self) = @_;
    if ($self) {
        our $in_sub = 1;
    }
    my $code = sub { 2 };
    print <<EOT . <<~'LAST';
sub in_document {
EOT
    sub in_second {
    LAST
    print 1 << 2, $local <<EOT;
    return "sub in_text {";
}

sub with_signature ($self, $default = (1), %rest) { 1 }
sub next_line
{
    sub nested {
        1;
    }
}
sub Other::qualified { }
sub
  split_name { }

package Block {
    sub in_block {
        {
        }
    }
    our $in_package = 1;
}

sub after_block { }

package Brace
{
    sub in_brace { }
}

package # hidden from an index
    Hidden::Name;
sub in_hidden { }

class Point {
    field $x;
    method length { return $x }
    method private_one($a) {
    }
}

my %keys = (
    class => 'x',
    method => sub { 1 },
    package => 1,
);

__END__

sub after_end { 1 }
