import HTTPValues
import NIOCore
import NIOPosix
import TaskLoops
import TestSupport

@testable import OutgoingHTTP

extension TransferRules {
    /// Nothing depends on the speed of the machine.
    static let patient = TransferRules(connectSecondsMax: 3_600, idleSecondsMax: 3_600)
}

/// A client of a test's own.
func withHTTP<Value>(
    _ rules: TransferRules = .patient,
    _ body: (OutgoingHTTP) async throws -> Value
) async throws -> Value {
    let http = OutgoingHTTP(on: TaskLoop(MultiThreadedEventLoopGroup.singleton.next()), rules)
    do {
        let value = try await body(http)
        await http.stop()
        return value
    } catch {
        await http.stop()
        throw error
    }
}

extension OutgoingHTTP {
    /// What comes of a request.
    func result(
        _ url: String, _ method: OutgoingRequest.Method = .get, headers: [(String, String)] = [],
        timeoutSeconds: Int = 3_600, responseBytesMax: Int = 1_000
    ) async throws -> Result<OutgoingResponse, OutgoingError> {
        let request = OutgoingRequest(
            method, try OutgoingURL(url), headers: headers, timeoutSeconds: timeoutSeconds,
            responseBytesMax: responseBytesMax)
        do throws(OutgoingError) {
            return .success(try await send(request))
        } catch {
            return .failure(error)
        }
    }
}

extension Result where Success == OutgoingResponse, Failure == OutgoingError {
    var error: OutgoingError? {
        if case .failure(let error) = self { error } else { nil }
    }
}

extension LoopbackServer {
    func url(_ target: String = "/", scheme: String = "http") -> String {
        "\(scheme)://127.0.0.1:\(port)\(target)"
    }
}

/// A server that never answers, and an event for each connection that has sent something.
func silentPeer() throws -> (LoopbackServer, AsyncStream<Void>) {
    let (events, happened) = AsyncStream<Void>.makeStream()
    let peer = try LoopbackServer { connection in
        guard connection.receive() != nil else { return }
        happened.yield()
        connection.waitForEnd()
    }
    return (peer, events)
}
