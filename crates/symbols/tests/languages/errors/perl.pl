sub before { 1 }
sub broken {
    my $x = "open;
sub after { 1 }
sub cut
use constant {
    LAST => 1,
