# xmpp4r: ruby xmpp4r.rb PORT ACCOUNT SECONDS
require "xmpp4r/client"

$stdout.sync = true
port, account, seconds = ARGV
client = Jabber::Client.new(Jabber::JID.new("#{account}@localhost/lib"))
client.on_exception { |error, _, where| abort "lost: #{error.inspect} #{where}" }
client.connect("127.0.0.1", port.to_i)
client.auth("x")
puts "ready"
client.add_message_callback { |message| puts "got #{message.body}" }
client.send(Jabber::Presence.new)
sleep seconds.to_i
puts "still there"
client.close
