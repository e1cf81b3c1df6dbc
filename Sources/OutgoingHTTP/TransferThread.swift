// The thread that runs libcurl. Others send it orders and wake it.
//
// It waits in `curl_multi_poll`, which `curl_multi_wakeup` ends. libcurl's other interface, by
// sockets, needs an event loop that watches what libcurl names and keeps its timer, and is worth
// its code from thousands of connections on. Here there are some dozens.

import CCurl
import EventLoop

/// What the thread is to do for a request.
struct TransferOrder: Sendable {
    let id: UInt64
    let request: OutgoingRequest
    let headerLines: [String]
    /// Called once, on any thread.
    let report: @Sendable (Result<OutgoingResponse, OutgoingError>) -> Void
}

/// Runs transfers on a thread of its own, which is started with the first. Any thread may call it.
final class TransferThread: Sendable {
    private enum Order {
        case begin(TransferOrder)
        case cancel(UInt64)
    }

    @safe private enum Phase {
        /// There is no thread. To: `running`, `over`.
        case idle
        /// The thread waits in this handle of libcurl, which may be woken. To: `ending`.
        case running(UnsafeMutableRawPointer)
        /// The thread ends its transfers. To: `over`.
        case ending(UnsafeMutableRawPointer)
        case over
    }

    private struct State {
        var phase = Phase.idle
        var orders: [Order] = []
        /// What is called when the thread has ended.
        var afterEnd: [@Sendable () -> Void] = []

        /// The handle, while it may be used.
        var multi: UnsafeMutableRawPointer? {
            switch phase {
            case .running(let multi), .ending(let multi): unsafe multi
            case .idle, .over: nil
            }
        }

        mutating func add(_ order: Order) {
            orders.append(order)
            wake()
        }

        func wake() {
            // It cannot fail: a pipe that is full wakes, too.
            if let multi = unsafe multi { _ = unsafe curl_multi_wakeup(multi) }
        }

        /// The orders so far, and whether the thread is to end.
        mutating func takeOrders() -> ([Order], isEnding: Bool) {
            defer { orders = [] }
            if case .ending = phase { return (orders, true) }
            return (orders, false)
        }
    }

    private let rules: TransferRules
    private let state = Guarded(State())

    init(_ rules: TransferRules) {
        self.rules = rules
    }

    /// Begins a transfer, or queues it until others have ended.
    func begin(_ order: TransferOrder) {
        let error = state.withLock { state -> OutgoingError? in
            if case .idle = state.phase, let error = start(&state) { return error }
            guard case .running = state.phase else {
                return .cannotSend("the service is shutting down")
            }
            state.add(.begin(order))
            return nil
        }
        if let error { order.report(.failure(error)) }
    }

    /// Ends a transfer, as if its time had passed; a no-op if it has ended.
    func cancel(_ id: UInt64) {
        state.withLock { state in
            if case .running = state.phase { state.add(.cancel(id)) }
        }
    }

    /// Ends all transfers and the thread, and then calls `body`, on any thread.
    func end(_ body: @escaping @Sendable () -> Void = {}) {
        let isOver = state.withLock { state in
            switch state.phase {
            case .idle, .over:
                state.phase = .over
                return true
            case .running(let multi):
                state.phase = unsafe .ending(multi)
                state.wake()
            case .ending: break
            }
            state.afterEnd.append(body)
            return false
        }
        if isOver { body() }
    }

    // MARK: The thread

    /// Starts the thread, or says why it cannot.
    private func start(_ state: inout State) -> OutgoingError? {
        guard let multi = unsafe Transfers.makeHandle() else {
            return .cannotSend("memory or descriptors are short")
        }
        do throws(UVError) {
            try NamedThread(name: "outgoing HTTP") { [rules, state = self.state] in
                Self.run(state, rules)
            }.detach()
        } catch {
            unsafe curl_multi_cleanup(multi)
            return .cannotSend(error.description)
        }
        state.phase = unsafe .running(multi)
        return nil
    }

    private static func run(_ state: Guarded<State>, _ rules: TransferRules) {
        // The lock is held until the phase is set.
        guard let multi = unsafe state.withLock({ unsafe $0.multi }) else { return }
        var transfers = unsafe Transfers(multi, rules)
        while true {
            let (orders, isEnding) = state.withLock { $0.takeOrders() }
            for order in orders {
                switch order {
                case .begin(let order): transfers.begin(order)
                case .cancel(let id): transfers.cancel(id)
                }
            }
            if isEnding { break }
            transfers.run()
        }
        transfers.endAll(.timedOut)
        let afterEnd = state.withLock { state in
            // In the lock: a thread that wakes it has the handle only there.
            unsafe curl_multi_cleanup(multi)
            state.phase = .over
            return state.afterEnd
        }
        for body in afterEnd { body() }
    }
}
