import Dispatch
import Foundation
import Logging
import NIOCore
import NIOPosix
import PresenceCore
import PresenceServer
import PresenceWire
import Synchronization
import Testing

@testable import PresenceGateway

/// A service on a thread of its own.
private final class RunningService: Sendable {
    private let ended = DispatchSemaphore(value: 0)
    private let directory: String
    private let control = Mutex<ServiceControl?>(nil)
    let reference: ServiceReference

    init(_ reference: ServiceReference = ServiceReference()) {
        self.reference = reference
        directory = NSTemporaryDirectory() + "porchlight-" + UUID().uuidString
        let isReady = DispatchSemaphore(value: 0)
        let thread = Thread { [self] in
            var configuration = Configuration()
            configuration.port = 0
            configuration.dataDirectory = directory
            var logger = Logger(label: "test")
            logger.logLevel = .critical
            do {
                let service = try Service(configuration, logger: logger)
                control.withLock { $0 = service.control }
                try service.run { [control = service.control] in
                    reference.open(to: control)
                    isReady.signal()
                }
            } catch {
                Issue.record(error)
                isReady.signal()
            }
            ended.signal()
        }
        thread.start()
        isReady.wait()
    }

    func stop() {
        control.withLock { $0 }?.stop()
        ended.wait()
        try? FileManager.default.removeItem(atPath: directory)
    }
}

@Suite struct `A gateway` {
    private static let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    private func gateway(
        to reference: ServiceReference, _ adjust: (inout InProcessLimits) -> Void = { _ in }
    ) -> Gateway {
        var limits = InProcessLimits()
        limits.requestMilliseconds = 3_600_000
        adjust(&limits)
        return Gateway(on: Self.group.next(), limits, to: reference)
    }

    private var query: MethodCall {
        var call = MethodCall(.query)
        call.arguments = [.init(.type, .integer(1)), .init(.accounts, .texts(["bob"]))]
        return call
    }

    @Test func `says that the service starts, answers, and ends with it`() async throws {
        let reference = ServiceReference()
        let gateway = gateway(to: reference)
        await #expect(throws: InProcessError.starting) { try await gateway.call(query) }
        let service = RunningService(reference)
        let state = try await gateway.call(query, .onlyState)
        #expect(
            String(decoding: state.bytes, as: UTF8.self).hasPrefix(#"{"type":1,"publisher":"bob","#)
        )
        #expect(try await gateway.stats().contains { $0.name == "storeRetained" })
        let metrics = try await gateway.call(MethodCall(.metrics))
        #expect(
            String(decoding: metrics.bytes, as: UTF8.self).contains("porchlight_requests_total"))
        service.stop()
        await #expect(throws: InProcessError.ended) { try await gateway.call(query) }
    }

    @Test func `passes on errors`() async throws {
        let service = RunningService()
        defer { service.stop() }
        let gateway = gateway(to: service.reference)
        do {
            _ = try await gateway.call(MethodCall(.query))
            Issue.record("not rejected")
        } catch InProcessError.rejected(let error) {
            #expect(error.reason == "missing_field" && error.code == 414)
        }
        var call = query
        call.body = []
        await #expect(throws: InProcessError.invalidBody(.invalidJSON(position: 0))) {
            try await gateway.call(call)
        }
        call.body = Array(repeating: 0x20, count: 262_145)
        await #expect(throws: InProcessError.tooLong(bytesMax: 262_144)) {
            try await gateway.call(call)
        }
    }

    @Test func `carries out many calls at once, within its bounds`() async throws {
        let service = RunningService()
        defer { service.stop() }
        let gateway = gateway(to: service.reference) {
            $0.callsMax = 20
            $0.callsAtOnceMax = 4
        }
        let query = query
        let rejected = try await withThrowingTaskGroup(of: Bool.self) { tasks in
            for _ in 0..<300 {
                tasks.addTask {
                    do {
                        _ = try await gateway.call(query)
                        return false
                    } catch InProcessError.overloaded {
                        return true
                    }
                }
            }
            return try await tasks.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        let counters = await gateway.counters()
        #expect(counters.rejected == rejected && counters.inProgress == 0 && counters.waiting == 0)
    }

    @Test func `rejects calls for several states while too many results are in use`() async throws {
        let service = RunningService()
        defer { service.stop() }
        let gateway = gateway(to: service.reference) { $0.resultBytesMax = 1 }
        var several = MethodCall(.query)
        several.arguments = [
            .init(.type, .integer(1)), .init(.accounts, .texts(["bob", "carol"])),
        ]
        do {
            let result = try await gateway.call(several)
            #expect(await gateway.counters().resultBytes == result.bytes.count)
            await #expect(throws: InProcessError.overloaded) { try await gateway.call(several) }
            _ = try await gateway.call(query)
            withExtendedLifetime(result) {}
        }
        #expect(await gateway.counters().resultBytes == 0)
        _ = try await gateway.call(several)
        #expect(await gateway.counters().rejected == 1)
    }

    @Test func `asks for so many states at once, and for the others later`() async throws {
        let service = RunningService()
        defer { service.stop() }
        let gateway = gateway(to: service.reference) { $0.statesAtOnceMax = 1 }
        let query = query
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for _ in 0..<100 { tasks.addTask { _ = try await gateway.call(query) } }
            try await tasks.waitForAll()
        }
        let counters = await gateway.counters()
        #expect(counters.inProgress == 0 && counters.waiting == 0 && counters.rejected == 0)
    }

    @Test func `gives up calls that are cancelled, or take too long`() async throws {
        let service = RunningService()
        defer { service.stop() }
        let gateway = gateway(to: service.reference)
        let query = query
        for _ in 0..<200 {
            let call = Task { try await gateway.call(query) }
            call.cancel()
            do {
                _ = try await call.value
            } catch {
                #expect(error as? InProcessError == .cancelled)
            }
        }
        #expect(await gateway.counters().inProgress == 0)
        // This one hands over no call, so nothing answers it.
        let hasty = self.gateway(to: service.reference) {
            $0.requestMilliseconds = 0
            $0.callsAtOnceMax = 0
        }
        await #expect(throws: InProcessError.timedOut) { try await hasty.call(query) }
        #expect(await hasty.counters().timedOut == 1)
    }

    @Test func `reads the feed until its reader is closed, or the service ends`() async throws {
        let service = RunningService()
        let gateway = gateway(to: service.reference)
        let reader = try await gateway.openFeed(after: nil)
        #expect(reader.start == .reset)
        guard case .synced(let cursor) = try await reader.next(within: .hours(1)) else {
            Issue.record("not synced")
            return
        }
        #expect(try await reader.next(within: .milliseconds(1)) == nil)
        var publish = MethodCall(.publish)
        publish.body = Array(#"{"account":"bob","type":100,"value":10000}"#.utf8)
        publish.bodyMembers = [.account, .type, .value]
        _ = try await gateway.call(publish)
        guard case .changes(let events, _) = try await reader.next(within: .hours(1)) else {
            Issue.record("no change")
            return
        }
        #expect(events.count == 1)
        let other = try await gateway.openFeed(after: cursor.text)
        #expect(other.start == .resumed)
        guard case .now(let position) = try await gateway.openFeed(after: nil, from: "now").start
        else {
            Issue.record("not from now")
            return
        }
        #expect(position.epoch == cursor.epoch && position.seq > cursor.seq)
        other.close()
        await #expect(throws: InProcessError.cancelled) { try await other.next(within: .hours(1)) }
        let waiting = Task { try await other.next(within: .hours(1)) }
        waiting.cancel()
        await #expect(throws: InProcessError.cancelled) { try await waiting.value }
        let last = Task { try await reader.next(within: .hours(1)) }
        service.stop()
        await #expect(throws: InProcessError.ended) { try await last.value }
    }
}
