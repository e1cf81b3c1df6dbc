import Foundation
import PresenceClient
import Synchronization
import TestSupport

/// Stands where a service would be, and lets a test say what is answered.
final class ScriptedService: Sendable {
    private let listener: LoopbackListener

    init() throws { listener = try LoopbackListener(backlog: 8) }

    deinit { listener.close() }

    var port: UInt16 { listener.port }
    var address: String { "127.0.0.1:\(port)" }

    /// The next who connects; what he sends is read, and he is answered, by the same protocol.
    func accept() throws -> Client {
        var waiting = pollfd(fd: listener.descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&waiting, 1, 30_000) == 1 else { throw ClientError.timedOut("accept") }
        return Client(socket: listener.accept())
    }
}

extension Client {
    /// Reads a request of this method, answers it, and gives what it asked for.
    func answer(_ method: String, _ result: JSON = [:]) throws -> JSON {
        while let request = try nextMessage(withinMilliseconds: 30_000) {
            guard request["method"] == .string(method) else {
                throw ClientError.badAnswer("\(request.text) is no \(method)")
            }
            try send(["jsonrpc": "2.0", "id": request["id"] ?? .null, "result": result])
            return request["params"] ?? [:]
        }
        throw ClientError.timedOut(method)
    }
}

/// Carries what one thread has found out to the one that waits for it.
final class Mailbox<Value: Sendable>: Sendable {
    private let result = Mutex<Result<Value, any Error>?>(nil)
    private let isThere = DispatchSemaphore(value: 0)

    func put(_ body: () throws -> Value) {
        let found = Result { try body() }
        result.withLock { $0 = found }
        isThere.signal()
    }

    func take() throws -> Value {
        isThere.wait()
        guard let found = result.withLock({ $0 }) else { throw ClientError.timedOut("a result") }
        return try found.get()
    }
}
