import Dispatch
import PresenceClient
import PresenceCore
import PresenceServer
import PresenceWire
import Testing

/// A client in the service's process, on the thread of a test.
private final class Caller {
    private let wakes = DispatchSemaphore(value: 0)
    let client: InProcessClient

    init(_ service: RunningService, _ limits: InProcessLimits = InProcessLimits()) throws {
        client = try service.makeClient(
            limits, wake: { [wakes] in wakes.signal() }, needsHandOver: {})
    }

    /// Goes on until it is over.
    func run(until isOver: () -> Bool) {
        client.handOver()
        client.receive()
        while !isOver() {
            client.handOver()
            wakes.wait()
            client.receive()
        }
    }

    func call(
        _ call: MethodCall, isReadOnly: Bool = false
    ) -> Result<InProcessResponse, InProcessError>? {
        var result: Result<InProcessResponse, InProcessError>?
        client.call(call, isReadOnly: isReadOnly) { result = $0 }
        run { result != nil }
        return result
    }

    /// The result as JSON; or the reason of the error.
    func ask(_ method: MethodName, _ body: String) throws -> JSON {
        switch try #require(call(.with(method, body))) {
        case .success(.result(let bytes)), .success(.text(let bytes)),
            .success(.stats(_, let bytes)), .success(.device(_, let bytes)):
            return try JSON(parsing: bytes.bytes)
        case .success(.feed): return "feed"
        case .failure(.rejected(let error)): return .string("\(error.code) \(error.reason)")
        case .failure(let error): throw error
        }
    }

    func openFeed(from cursor: FeedCursor? = nil) throws -> (FeedStart, InProcessClient.ID) {
        var call = MethodCall(.feed)
        if let cursor { call.arguments = [.init(.cursor, .text(cursor.text))] }
        guard case .success(.feed(let start, let id)) = self.call(call) else {
            throw InProcessError.ended
        }
        return (start, id)
    }

    func next(of reader: InProcessClient.ID) throws -> FeedItem {
        var result: Result<FeedItem, InProcessError>?
        client.next(of: reader) { result = $0 }
        run { result != nil }
        return try #require(result).get()
    }
}

extension MethodCall {
    /// A call whose parameters are the members of a body.
    fileprivate static func with(_ method: MethodName, _ body: String) -> MethodCall {
        var call = MethodCall(method)
        call.body = Array(body.utf8)
        call.bodyMembers = Rejection.Field.allCases
        return call
    }
}

@Suite struct `A client in process` {
    private let query = #"{"type":1,"accounts":["bob","carol"]}"#

    @Test func `is an app server without a login`() throws {
        try withService { service in
            let caller = try Caller(service)
            let bob = try service.login("bob")
            let states = try caller.ask(.query, query)["states"]?.array
            #expect(states?.count == 2 && states?.first?["value"] == 1)
            #expect(try caller.ask(.login, #"{"client":"server"}"#) == "401 already_logged_in")
            #expect(try caller.ask(.query, #"{"type":1}"#) == "414 missing_field")
            var call = MethodCall.with(.query, #"{"type":1,"accounts":["bob"]}"#)
            var bytes: [UInt8]?
            caller.client.call(call, .onlyState) {
                if case .success(.result(let state)) = $0 { bytes = state.bytes }
            }
            caller.run { bytes != nil }
            #expect(try JSON(parsing: bytes ?? [])["publisher"] == "bob")
            call.body = Array("[]".utf8)
            #expect(throws: InProcessError.invalidBody(.notAnObject)) {
                try caller.call(call)?.get()
            }
            withExtendedLifetime(bob) {}
        }
    }

    @Test func `is counted like any other, but is no connection`() throws {
        try withService { service in
            let caller = try Caller(service)
            _ = try caller.ask(.query, query)
            _ = try caller.ask(.query, "{}")
            let stats = try caller.ask(.stats, "{}")
            #expect(stats["connections"] == 0)
            guard case .success(.text(let text)) = caller.call(MethodCall(.metrics)) else {
                Issue.record("no metrics")
                return
            }
            let metrics = String(decoding: text.bytes, as: UTF8.self)
            #expect(metrics.contains("porchlight_requests_total{method=\"query\"} 1\n"))
            #expect(metrics.contains("porchlight_rejections_total{reason=\"missing_field\"} 1\n"))
        }
    }

    @Test func `has its answers durable, and sees what clients do`() throws {
        try withService { service in
            let caller = try Caller(service)
            let alice = try service.login("alice")
            let subscription = #"{"account":"alice","type":1,"expiry":60,"publishers":["bob"]}"#
            #expect(try caller.ask(.subscribe, subscription)["count"] == 1)
            let bob = try service.login("bob")
            #expect(try alice.nextEvent()["publisher"] == "bob")
            #expect(try caller.ask(.kick, #"{"account":"bob"}"#)["kicked"] == 1)
            #expect(try bob.closing() == "4410 kicked")
        }
    }

    @Test func `waits for its own calls above a limit, and is rejected above another`() throws {
        try withService { service in
            var limits = InProcessLimits()
            limits.callsMax = 100
            limits.callsAtOnceMax = 3
            let caller = try Caller(service, limits)
            var results: [Int: Bool] = [:]
            var order: [Int] = []
            for number in 0..<150 {
                caller.client.call(.with(.query, query)) {
                    if case .success(.result) = $0 { results[number] = true }
                    if case .failure(.overloaded) = $0 { results[number] = false }
                    order.append(number)
                }
            }
            #expect(order == Array(100..<150))
            #expect(caller.client.counters.inProgress == 3)
            #expect(caller.client.counters.waiting == 97)
            #expect(caller.client.counters.rejected == 50)
            caller.run { results.count == 150 }
            #expect(order[50...].elementsEqual(0..<100))
            #expect(results.allSatisfy { $0.value == ($0.key < 100) })
            #expect(!caller.client.hasCalls)
        }
    }

    @Test func `has half of the room for results of callers that may only read`() throws {
        try withService { service in
            var limits = InProcessLimits()
            limits.resultBytesMax = 800
            let caller = try Caller(service, limits)
            let query = MethodCall.with(.query, #"{"type":1,"accounts":["a","b","c","d","e"]}"#)
            let list = MethodCall.with(.subscriptions, #"{"account":"a","limit":1000}"#)
            func ask(_ call: MethodCall, isReadOnly: Bool) throws -> InProcessResponse {
                try #require(caller.call(call, isReadOnly: isReadOnly)).get()
            }
            var held = [try ask(query, isReadOnly: true)]
            let bytes = caller.client.counters.resultBytes
            #expect(400..<800 ~= bytes, "\(bytes)")
            for call in [query, list] {
                #expect(throws: InProcessError.overloaded) { try ask(call, isReadOnly: true) }
            }
            // One entry, as a single state, costs nothing that would have to be bounded.
            _ = try ask(.with(.subscriptions, #"{"account":"a","limit":1}"#), isReadOnly: true)
            held.append(try ask(query, isReadOnly: false))
            #expect(throws: InProcessError.overloaded) { try ask(list, isReadOnly: false) }
            #expect(held.count == 2)
            held = []
            #expect(caller.client.counters.resultBytes == 0)
            _ = try ask(list, isReadOnly: true)
        }
    }

    @Test func `gives calls up in every phase, and takes no response to them`() throws {
        try withService { service in
            var limits = InProcessLimits()
            limits.callsAtOnceMax = 2
            let caller = try Caller(service, limits)
            var cancelled: [Int] = []
            var answered: [Int] = []
            func begin(_ number: Int, _ call: MethodCall) -> InProcessClient.ID? {
                caller.client.call(call) {
                    if case .failure(.cancelled) = $0 {
                        cancelled.append(number)
                    } else {
                        answered.append(number)
                    }
                }
            }
            let calls: [MethodCall] = [
                .with(.query, query), MethodCall(.stats), MethodCall(.feed), MethodCall(.metrics),
            ]
            for round in 0..<200 {
                // Given up while it waits, when it was handed over, and when it was answered.
                let ids = (0..<6).map { begin(6 * round + $0, calls[($0 + round) % 4]) }
                let given = ids.compactMap { $0 }
                if round % 3 == 0 { caller.client.handOver() }
                for (place, id) in given.enumerated() where (place + round) % 2 == 0 {
                    caller.client.cancel(id)
                    caller.client.cancel(id)
                }
                if round % 5 == 0 { caller.client.receive() }
                caller.run { cancelled.count + answered.count == 6 * (round + 1) }
                // Readers of the feed end.
                for id in given { caller.client.cancel(id) }
            }
            #expect(Set(cancelled + answered).count == 1_200 && !cancelled.isEmpty)
            #expect(!caller.client.hasCalls)
            #expect(try caller.ask(.stats, "{}")["feedReaders"] == 0)
        }
    }

    @Test func `gives calls up when their time is over`() throws {
        try withService { service in
            var limits = InProcessLimits()
            limits.callsAtOnceMax = 1
            let caller = try Caller(service, limits)
            var results: [String] = []
            for deadline in [10, 20, 30] as [UInt64] {
                caller.client.call(.with(.query, query), deadline: deadline) { result in
                    if case .failure(.timedOut) = result {
                        results.append("\(deadline) timed out")
                    } else {
                        results.append("\(deadline) answered")
                    }
                }
            }
            caller.client.timeOut(at: 9)
            #expect(results.isEmpty)
            caller.client.timeOut(at: 20)
            #expect(results == ["10 timed out", "20 timed out"])
            #expect(caller.client.counters.timedOut == 2)
            caller.run { results.count == 3 }
            #expect(results.last == "30 answered")
        }
    }

    @Test func `reads the feed, a share at a time`() throws {
        try withService { service in
            let caller = try Caller(service)
            let bob = try service.login("bob")
            let (start, reader) = try caller.openFeed()
            guard case .reset = start else {
                Issue.record("no snapshot")
                return
            }
            guard case .states(let states) = try caller.next(of: reader) else {
                Issue.record("no states")
                return
            }
            #expect(states.count == 1)
            #expect(try JSON(parsing: states.bytes)["publisher"] == "bob")
            guard case .synced(let cursor) = try caller.next(of: reader) else {
                Issue.record("not synced")
                return
            }
            for value in 0..<5 {
                let body = #"{"account":"bob","type":100,"value":\#(10_000 + value)}"#
                _ = try caller.ask(.publish, body)
            }
            // What has happened since the last item comes together.
            guard case .changes(let changes, let after) = try caller.next(of: reader) else {
                Issue.record("no changes")
                return
            }
            #expect(changes.count == 5 && after.seq > cursor.seq)
            let list = try JSON(parsing: Array("[".utf8) + changes.bytes + Array("]".utf8))
            #expect(list.array?.count == 5)
            #expect(list.array?.first?["time"]?.integer == changes.firstTime.milliseconds)
            let (again, second) = try caller.openFeed(from: cursor)
            guard case .resumed = again else {
                Issue.record("reset")
                return
            }
            guard case .changes(changes, after) = try caller.next(of: second) else {
                Issue.record("other changes")
                return
            }
            caller.client.cancel(reader)
            #expect(throws: InProcessError.cancelled) { try caller.next(of: reader) }
            #expect(try caller.ask(.stats, "{}")["feedReaders"] == 1)
            withExtendedLifetime(bob) {}
        }
    }

    @Test func `ends with the service, whatever is in progress`() throws {
        try withDirectory { directory in
            let service = RunningService(directory)
            var limits = InProcessLimits()
            limits.callsAtOnceMax = 2
            let caller = try Caller(service, limits)
            let (_, reader) = try caller.openFeed()
            guard case .synced = try caller.next(of: reader) else {
                Issue.record("another result")
                return
            }
            var ended = 0
            caller.client.next(of: reader) { if case .failure(.ended) = $0 { ended += 1 } }
            service.stop()
            for _ in 0..<10 {
                caller.client.call(.with(.query, query)) {
                    if case .failure(.ended) = $0 { ended += 1 }
                }
            }
            caller.run { ended == 11 }
            #expect(throws: InProcessError.ended) { try caller.call(MethodCall(.stats))?.get() }
            #expect(throws: ServiceError.self) { try Caller(service) }
        }
    }
}
