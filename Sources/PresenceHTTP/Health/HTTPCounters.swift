import HTTPTypes
import NIOCore
import PresenceGateway
import Synchronization

/// The HTTP API's counters, for `/metrics`. Label values come from closed sets.
final class HTTPCounters: Sendable {
    private struct Counts {
        /// By operation and status class; requests for no known operation come last.
        var requests = [UInt64](repeating: 0, count: (Operation.allCases.count + 1) * 6)
        var inFlight = 0
        var connections = 0
        var accepted: UInt64 = 0
        var timedOut: UInt64 = 0
        var displaced: UInt64 = 0
        var feedReaders = 0
    }

    private static let numbers = Dictionary(
        uniqueKeysWithValues: Operation.allCases.enumerated().map { ($1, $0) })

    private let counts = Mutex(Counts())

    /// Open connections.
    var connections: Int { counts.withLock { $0.connections } }

    func begin() { counts.withLock { $0.inFlight += 1 } }

    /// Counts the end of a request; the status is nil if the client had disconnected.
    func end(_ operation: Operation?, _ status: HTTPResponse.Status?) {
        let row = operation.flatMap { Self.numbers[$0] } ?? Operation.allCases.count
        let column = status.map { min(max($0.code / 100, 1), 5) } ?? 0
        counts.withLock {
            $0.inFlight -= 1
            $0.requests[row * 6 + column] += 1
        }
    }

    func connectionOpened() {
        counts.withLock {
            $0.connections += 1
            $0.accepted += 1
        }
    }

    func connectionClosed() { counts.withLock { $0.connections -= 1 } }

    func connectionDisplaced() { counts.withLock { $0.displaced += 1 } }

    func connectionTimedOut() { counts.withLock { $0.timedOut += 1 } }

    /// Counts one more feed reader, unless there are `max` already.
    func enterFeed(max: Int) -> Bool {
        counts.withLock {
            guard $0.feedReaders < max else { return false }
            $0.feedReaders += 1
            return true
        }
    }

    func leaveFeed() { counts.withLock { $0.feedReaders -= 1 } }

    /// Appends all metrics in the Prometheus text format.
    func write(to text: inout ByteBuffer, _ gateway: GatewayCounters) {
        let counts = counts.withLock { $0 }
        text.metric(
            "porchlight_http_requests_total", .counter,
            "HTTP requests, by method, route and status class.")
        for (row, operation) in (Operation.allCases.map(Optional.some) + [nil]).enumerated() {
            for column in 0..<6 where counts.requests[row * 6 + column] > 0 {
                let labels =
                    "{method=\"\(operation?.method.rawValue ?? "other")\","
                    + "route=\"\(operation?.path ?? "other")\","
                    + "status=\"\(column == 0 ? "none" : "\(column)xx")\"}"
                text.sample(
                    "porchlight_http_requests_total", labels, counts.requests[row * 6 + column])
            }
        }
        text.gauge(
            "porchlight_http_requests_in_flight", "HTTP requests in flight.", counts.inFlight)
        text.gauge("porchlight_http_connections", "Open HTTP connections.", counts.connections)
        text.counter(
            "porchlight_http_connections_accepted_total", "HTTP connections accepted.",
            counts.accepted)
        text.counter(
            "porchlight_http_connections_timed_out_total",
            "HTTP connections closed because the client was too slow.", counts.timedOut)
        text.counter(
            "porchlight_http_connections_displaced_total",
            "HTTP connections closed to make room for newer ones.", counts.displaced)
        text.gauge(
            "porchlight_http_feed_readers", "Feed readers over HTTP.", counts.feedReaders)
        text.write(gateway)
    }
}

extension ByteBuffer {
    fileprivate enum MetricKind: String { case counter, gauge }

    fileprivate mutating func write(_ gateway: GatewayCounters) {
        metric(
            "porchlight_gateway_connections", .gauge,
            "Connections of the HTTP API to the service, by state.")
        sample("porchlight_gateway_connections", "{state=\"busy\"}", UInt64(gateway.busy))
        sample("porchlight_gateway_connections", "{state=\"idle\"}", UInt64(gateway.idle))
        gauge(
            "porchlight_gateway_requests_waiting",
            "HTTP requests waiting for a connection to the service.",
            gateway.waiting)
        counter(
            "porchlight_gateway_connections_opened_total", "Connections to the service opened.",
            UInt64(gateway.opened))
        counter(
            "porchlight_gateway_requests_refused_total",
            "HTTP requests rejected because too many were waiting.", UInt64(gateway.refused))
        counter(
            "porchlight_gateway_requests_timed_out_total",
            "HTTP requests without a response from the service in time.", UInt64(gateway.timedOut))
    }

    fileprivate mutating func metric(_ name: String, _ kind: MetricKind, _ help: String) {
        writeString("# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n")
    }

    fileprivate mutating func sample(_ name: String, _ labels: String, _ value: UInt64) {
        writeString("\(name)\(labels) \(value)\n")
    }

    fileprivate mutating func gauge(_ name: String, _ help: String, _ value: Int) {
        metric(name, .gauge, help)
        sample(name, "", UInt64(max(0, value)))
    }

    fileprivate mutating func counter(_ name: String, _ help: String, _ value: UInt64) {
        metric(name, .counter, help)
        sample(name, "", value)
    }
}
