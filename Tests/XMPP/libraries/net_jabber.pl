# Net::Jabber: perl net_jabber.pl PORT ACCOUNT SECONDS
use strict;
use warnings;
use Net::Jabber;

$| = 1;
my ($port, $account, $seconds) = @ARGV;
my $client = Net::Jabber::Client->new();
$client->SetCallBacks(message => sub { print "got ", $_[1]->GetBody(), "\n" });
$client->Connect(
    hostname => "127.0.0.1", port => $port, componentname => "localhost", tls => 0, srv => 0)
    or die "cannot connect: $!";
my @result = $client->AuthSend(username => $account, password => "x", resource => "lib");
$result[0] eq "ok" or die "cannot log in: @result";
print "ready\n";
$client->PresenceSend();
my $end = time + $seconds;
while (time < $end) { defined $client->Process(1) or die "lost" }
print "still there\n";
$client->Disconnect();
