-- As prosody.cfg.lua, with messages for accounts that are away, in its default storage: files.
pidfile = "@DIR@/prosody.pid"
data_path = "@DIR@/data"
run_as_root = true
modules_enabled = { "roster", "saslauth", "ping", "offline" }
modules_disabled = { "s2s", "tls" }
authentication = "internal_plain"
allow_unencrypted_plain_auth = true
c2s_require_encryption = false
network_backend = "epoll"
storage = "internal"
interfaces = { "127.0.0.1" }
c2s_ports = { @PORT@ }
log = { error = "@DIR@/prosody.log" }
VirtualHost "localhost"
