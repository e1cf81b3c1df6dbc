import EventLoop
import Foundation
import Logging
import PresenceClient
import PresenceCore
import Testing

@testable import PresenceServer

/// A service on a thread of its own, with a port of its own and a clock that can be moved.
final class RunningService: @unchecked Sendable {
    // SAFETY: `control`, `loops`, `failure` and `address` are written before a semaphore is
    // signalled and read after it was waited for.
    private let ended = DispatchSemaphore(value: 0)
    private var control: ServiceControl?
    private var loops: [Wakeup] = []
    private(set) var failure: String?
    private(set) var address = ListenAddress(host: "", port: 0)
    private(set) var xmppAddress: ListenAddress?
    let shift = ClockShift()
    let directory: String

    /// Starts a service; the folder with its data outlives it.
    init(
        _ directory: String, aheadSeconds: UInt64 = 0,
        _ adjust: @escaping @Sendable (inout Configuration) -> Void = { _ in }
    ) {
        self.directory = directory
        shift.pass(milliseconds: aheadSeconds * 1_000)
        let isReady = DispatchSemaphore(value: 0)
        let thread = Thread { [self] in
            var configuration = Configuration()
            configuration.port = 0
            configuration.dataDirectory = directory
            adjust(&configuration)
            var logger = Logger(label: "test")
            logger.logLevel = .critical
            do {
                let service = try Service(configuration, logger: logger, shift: shift)
                control = service.control
                loops = service.loops.map(\.wakeup)
                address = service.address
                xmppAddress = service.xmppAddress
                try service.run { isReady.signal() }
            } catch {
                failure = "\(error)"
                isReady.signal()
            }
            ended.signal()
        }
        thread.start()
        isReady.wait()
    }

    /// Stops it in order and waits for its end.
    func stop() {
        control?.stop()
        ended.wait()
    }

    /// Lets time pass for the service, deadline after deadline.
    func pass(seconds: Double) {
        shift.pass(milliseconds: UInt64(seconds * 1_000))
        // Loops read their clocks when they are woken.
        for loop in loops { loop.wake() }
    }

    /// A client in this process.
    func makeClient(
        _ limits: InProcessLimits = InProcessLimits(), wake: @escaping @Sendable () -> Void,
        needsHandOver: @escaping () -> Void
    ) throws -> InProcessClient {
        try #require(control).makeClient(limits, wake: wake, needsHandOver: needsHandOver)
    }

    func connect() throws -> Client {
        try Client(host: address.host, port: address.port)
    }

    /// A client that has logged in and been sent its list, which is dropped.
    func login(
        _ account: String, _ device: String = "d1", _ more: [String: JSON] = [:],
        over connection: Client? = nil
    ) throws -> Client {
        let client = try connection ?? connect()
        var params = more
        params["account"] = .string(account)
        params["device"] = .string(device)
        _ = try client.call("login", .object(params))
        while let notification = try client.nextNotification(withinMilliseconds: 60_000) {
            if notification.method == "synced" { return client }
        }
        throw ClientError.timedOut("synced")
    }

    func appServer() throws -> Client {
        let client = try connect()
        _ = try client.call("login", ["client": "server"])
        return client
    }
}

/// Runs `body` with a service in a folder of its own, and stops the one and removes the other.
func withService(
    _ adjust: @escaping @Sendable (inout Configuration) -> Void = { _ in },
    _ body: (RunningService) throws -> Void
) throws {
    try withDirectory { directory in
        let service = RunningService(directory, adjust)
        try #require(service.failure == nil)
        defer { service.stop() }
        try body(service)
    }
}

/// Runs `body` with a folder that is removed afterwards.
func withDirectory(_ body: (String) throws -> Void) throws {
    let directory = NSTemporaryDirectory() + "porchlight-" + UUID().uuidString
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try body(directory)
}

extension Client {
    /// The next notification of this kind; others on the way are dropped.
    func next(_ method: String) throws -> JSON {
        while let notification = try nextNotification(withinMilliseconds: timeoutMilliseconds) {
            if notification.method == method { return notification.params }
        }
        throw ClientError.timedOut(method)
    }

    /// The next event that is not a state.
    func nextEvent() throws -> JSON {
        while true {
            let params = try next("events")
            if params["sync"] == true { continue }
            return try #require(params["events"]?.array?.first)
        }
    }

    func subscribe(
        _ publishers: [String], type: Int64 = 1, expiry: Int64 = 3_600, sync: Bool = false
    ) throws -> JSON {
        try call(
            "subscribe",
            [
                "type": .integer(type), "expiry": .integer(expiry),
                "publishers": .array(publishers.map { .string($0) }), "sync": .bool(sync),
            ])
    }

    /// The reason and code of the rejection that the call must meet.
    func rejection(_ method: String, _ params: JSON = [:]) -> String {
        do {
            let result = try call(method, params)
            return "not rejected: \(result.text)"
        } catch .rejected(let reply) {
            return "\(reply.code) \(reply.reason)"
        } catch {
            return "\(error)"
        }
    }

    /// The code and reason with which the service closes this connection.
    func closing() throws -> String {
        let params = try next("close")
        return "\(params["code"]?.integer ?? 0) \(params["reason"]?.string ?? "")"
    }

    /// Waits for the end of the stream.
    func end() -> Bool {
        while true {
            do {
                guard try nextFrame(withinMilliseconds: timeoutMilliseconds) != nil else {
                    return false
                }
            } catch {
                return true
            }
        }
    }
}
