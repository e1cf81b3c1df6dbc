// EchoServer CERTIFICATE KEY: listens on two free ports of 127.0.0.1, the second one for TLS, and
// prints both. It ends at SIGTERM, or after ten minutes.

import EventLoop
import Foundation
import SecureLoop
import TLSSessions

struct UsageError: Error {}

guard CommandLine.arguments.count == 3 else { throw UsageError() }
let files = try CommandLine.arguments[1...].map {
    Array(try Data(contentsOf: URL(filePath: $0)))
}
let loop = try Loop()
guard let tickets = TLSTicketKeys(at: loop.monotonicMilliseconds) else { throw UsageError() }
let context = try TLSContext(
    [TLSCertificateFiles(chain: files[0], key: files[1])], tickets: tickets)
let network = SecureLoop(loop, secureListeners: [1], context: context)
let ports = [
    try loop.bind(host: "127.0.0.1", port: 0).port, try loop.bind(host: "127.0.0.1", port: 0).port,
]
try loop.startListening()
try loop.watchSignals([SIGTERM])
network.armTimer(atMonotonicMilliseconds: loop.monotonicMilliseconds + 600_000)
print("ports: \(ports[0]) \(ports[1])")
fflush(nil)
network.run(EchoServer(network))
network.close()
