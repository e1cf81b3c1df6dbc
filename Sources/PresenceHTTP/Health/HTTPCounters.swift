import PresenceServer
import PrometheusText
import Synchronization
import TLSSessions

/// The HTTP API's counters, for `/metrics`. Label values come from closed sets.
final class HTTPCounters: Sendable {
    fileprivate struct Counts {
        /// By operation and status class; requests for no known operation come last.
        var requests = [Int](repeating: 0, count: (Operation.allCases.count + 1) * 6)
        var inFlight = 0
        var connections = 0
        var accepted = 0
        var timedOut = 0
        var displaced = 0
        /// Requests for which there was no place, by `RequestParty.rawValue`.
        var withoutPlace = [Int](repeating: 0, count: RequestParty.allCases.count)
        var feedReaders = 0
        /// Those with keys that may only read.
        var readOnlyFeedReaders = 0
        var tlsHandshakes = 0
        /// By `TLSError.rawValue`.
        var tlsErrors = [Int](repeating: 0, count: TLSError.allCases.count)
    }

    private static let numbers = Dictionary(
        uniqueKeysWithValues: Operation.allCases.enumerated().map { ($1.name, $0) })

    private let counts = Mutex(Counts())

    /// Open connections.
    var connections: Int { counts.withLock { $0.connections } }

    func begin() { counts.withLock { $0.inFlight += 1 } }

    /// Counts the end of a request; the status is nil if the client had disconnected.
    func end(_ operation: Operation?, _ status: HTTPStatus?) {
        let row = operation.flatMap { Self.numbers[$0.name] } ?? Operation.allCases.count
        let column = status.map { min(max($0.rawValue / 100, 1), 5) } ?? 0
        counts.withLock {
            precondition($0.inFlight > 0, "a request ends that has not begun")
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

    func connectionClosed() {
        counts.withLock {
            precondition($0.connections > 0, "a connection is closed that was not opened")
            $0.connections -= 1
        }
    }

    func connectionDisplaced() { counts.withLock { $0.displaced += 1 } }

    func requestHadNoPlace(_ party: RequestParty) {
        counts.withLock { $0.withoutPlace[party.rawValue] += 1 }
    }

    func connectionTimedOut() { counts.withLock { $0.timedOut += 1 } }

    func tlsHandshakeCompleted() { counts.withLock { $0.tlsHandshakes += 1 } }

    func tlsFailed(_ error: TLSError) { counts.withLock { $0.tlsErrors[Int(error.rawValue)] += 1 } }

    /// Counts one more feed reader, unless there are `max` already. Those with keys that may only
    /// read get half of the places, so that they shut no app server out.
    func enterFeed(max: Int, isReadOnly: Bool) -> Bool {
        counts.withLock {
            guard $0.feedReaders < max, !isReadOnly || $0.readOnlyFeedReaders < max / 2 else {
                return false
            }
            $0.feedReaders += 1
            if isReadOnly { $0.readOnlyFeedReaders += 1 }
            return true
        }
    }

    func leaveFeed(isReadOnly: Bool) {
        counts.withLock {
            $0.feedReaders -= 1
            if isReadOnly { $0.readOnlyFeedReaders -= 1 }
            precondition(
                0...$0.feedReaders ~= $0.readOnlyFeedReaders, "a feed reader leaves twice")
        }
    }

    /// All metrics, and those of calls of the service, in the Prometheus text format.
    func metricsText(
        _ calls: InProcessCounters, _ certificates: HTTPCertificates?
    ) -> [UInt8] {
        let counts = counts.withLock { $0 }
        var text = MetricsText()
        counts.write(to: &text)
        counts.writeTLS(certificates, to: &text)
        text.add(calls)
        return text.bytes
    }
}

extension HTTPCounters.Counts {
    fileprivate func write(to text: inout MetricsText) {
        text.begin(
            .counter, "porchlight_http_requests_total",
            "HTTP requests, by method, route and status class.")
        for (row, operation) in (Operation.allCases.map(Optional.some) + [nil]).enumerated() {
            for column in 0..<6 where requests[row * 6 + column] > 0 {
                text.sample(
                    requests[row * 6 + column],
                    .init("method", operation?.method.rawValue ?? "other"),
                    .init("route", operation?.path ?? "other"),
                    .init("status", column == 0 ? "none" : "\(column)xx"))
            }
        }
        text.add(
            .gauge, "porchlight_http_requests_in_flight", "HTTP requests in flight.", inFlight)
        text.add(.gauge, "porchlight_http_connections", "Open HTTP connections.", connections)
        text.add(
            .counter, "porchlight_http_connections_accepted_total", "HTTP connections accepted.",
            accepted)
        text.add(
            .counter, "porchlight_http_connections_timed_out_total",
            "HTTP connections closed because the client was too slow.", timedOut)
        text.add(
            .counter, "porchlight_http_connections_displaced_total",
            "HTTP connections closed to make room for newer ones.", displaced)
        text.begin(
            .counter, "porchlight_http_requests_without_place_total",
            "HTTP requests rejected because others held the connections of their share.")
        for party in RequestParty.allCases {
            text.sample(withoutPlace[party.rawValue], .init("party", party.label))
        }
        text.add(
            .gauge, "porchlight_http_feed_readers", "Feed readers over HTTP.", feedReaders)
    }

    fileprivate func writeTLS(_ certificates: HTTPCertificates?, to text: inout MetricsText) {
        text.add(
            .counter, "porchlight_http_tls_handshakes_total",
            "TLS handshakes of the HTTP API completed.", tlsHandshakes)
        text.begin(
            .counter, "porchlight_http_tls_failures_total",
            "TLS connections of the HTTP API that ended with an error, by reason.")
        for error in TLSError.allCases {
            text.sample(tlsErrors[Int(error.rawValue)], .init("reason", error.label))
        }
        text.add(
            .gauge, "porchlight_http_tls_certificate_expires_timestamp_seconds",
            "When the first certificate for HTTP expires, in seconds since 1970; 0 without TLS.",
            Int(certificates?.expiresSeconds ?? 0))
    }
}

extension MetricsText {
    fileprivate mutating func add(_ calls: InProcessCounters) {
        add(
            .gauge, "porchlight_gateway_requests_in_progress",
            "HTTP requests that the service is carrying out.", calls.inProgress)
        add(
            .gauge, "porchlight_gateway_requests_waiting",
            "HTTP requests waiting for others to be carried out.", calls.waiting)
        add(
            .gauge, "porchlight_gateway_result_bytes",
            "Bytes of results that HTTP clients have not read yet.", calls.resultBytes)
        add(
            .counter, "porchlight_gateway_requests_rejected_total",
            "HTTP requests rejected because too many were waiting, or too many bytes unread.",
            calls.rejected)
        add(
            .counter, "porchlight_gateway_requests_timed_out_total",
            "HTTP requests without a response from the service in time.", calls.timedOut)
    }
}
