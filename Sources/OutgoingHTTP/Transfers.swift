import CCurl
import Containers

/// What is the same for all transfers.
struct TransferRules: Sendable {
    /// The most seconds until a connection can be used: its name is found, and TLS is agreed on.
    var connectSecondsMax = 5
    /// The most seconds that a connection is kept without a request: what is older may have been
    /// forgotten on the way.
    var idleSecondsMax = 60
    /// The most transfers at once; others wait for their end.
    var transfersMax = 64
    /// The most connections at once; nil: as many as transfers.
    var connectionsMax: Int?
    /// The file with the authorities that are trusted; nil for those of the system.
    var authoritiesPath: String?
}

/// The transfers of a thread, and those that wait for one of them to end.
@safe struct Transfers: ~Copyable {
    private let multi: UnsafeMutableRawPointer
    private let rules: TransferRules
    private var running: [UInt64: Transfer] = [:]
    private var waiting = Queue<TransferOrder>()

    init(_ multi: UnsafeMutableRawPointer, _ rules: TransferRules) {
        unsafe self.multi = unsafe multi
        self.rules = rules
        // Idle connections included.
        unsafe ccurl_multi_set_number(multi, CURLMOPT_MAXCONNECTS, rules.transfersMax)
        if let count = rules.connectionsMax {
            unsafe ccurl_multi_set_number(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, count)
        }
    }

    /// A handle for many transfers, which other threads can wake. Nil if something is short.
    static func makeHandle() -> UnsafeMutableRawPointer? {
        guard isInitialised, let multi = unsafe curl_multi_init() else { return nil }
        // Without descriptors for it, the handle has no pipe to be woken by.
        guard unsafe curl_multi_wakeup(multi) == CURLM_OK else {
            unsafe curl_multi_cleanup(multi)
            return nil
        }
        return unsafe multi
    }

    /// Once in the process, whatever threads ask.
    private static let isInitialised = curl_global_init(CLong(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    /// Begins a transfer, or queues it.
    mutating func begin(_ order: TransferOrder) {
        guard running.count < rules.transfersMax else { return waiting.append(order) }
        do throws(OutgoingError) {
            let transfer = try Transfer(order, rules)
            guard unsafe curl_multi_add_handle(multi, transfer.easy) == CURLM_OK else {
                throw .outOfMemory
            }
            running[order.id] = transfer
        } catch {
            order.report(.failure(error))
        }
    }

    /// Ends a transfer, as if its time had passed.
    mutating func cancel(_ id: UInt64) {
        if let order = waiting.removeFirst(where: { $0.id == id }) {
            order.report(.failure(.timedOut))
        } else {
            end(id) { _ in .failure(.timedOut) }
        }
    }

    /// Does what can be done now, and waits until something else can be, or the thread is woken.
    mutating func run() {
        var count: CInt = 0
        guard unsafe curl_multi_perform(multi, &count) == CURLM_OK else {
            return endAll(.outOfMemory)
        }
        var code = CURLE_OK
        while let easy = unsafe ccurl_next_ended(multi, &code) {
            end(unsafe ccurl_id(easy)) { $0.result(code) }
        }
        guard unsafe curl_multi_poll(multi, nil, 0, .max, nil) == CURLM_OK else {
            return endAll(.outOfMemory)
        }
    }

    /// Ends all of them.
    mutating func endAll(_ error: OutgoingError) {
        while let order = waiting.popFirst() { order.report(.failure(error)) }
        for id in running.keys { end(id) { _ in .failure(error) } }
    }

    private mutating func end(
        _ id: UInt64, _ result: (Transfer) -> Result<OutgoingResponse, OutgoingError>
    ) {
        guard let transfer = running.removeValue(forKey: id) else { return }
        unsafe curl_multi_remove_handle(multi, transfer.easy)
        transfer.order.report(result(transfer))
        // One that cannot begin leaves its place to the next.
        while running.count < rules.transfersMax, let order = waiting.popFirst() { begin(order) }
    }
}
