import NIOCore
import Synchronization

extension Gateway {
    /// A connection for one request. It must be given back in every case.
    func borrow() async throws -> GatewayConnection {
        let promise = group.next().makePromise(of: Pool.Grant.self)
        switch pool.withLock({ $0.borrow(promise) }) {
        case .take(let connection):
            promise.succeed(nil)
            return connection
        case .open:
            promise.succeed(nil)
            return try await openCounted()
        case .wait(let number):
            return try await wait(number, promise)
        case .refused:
            promise.succeed(nil)
            throw GatewayError.overloaded
        case .closed:
            promise.succeed(nil)
            throw GatewayError.ended
        }
    }

    /// Takes back a connection, which may have ended.
    func giveBack(_ connection: GatewayConnection?) {
        pool.withLock { $0.giveBack(connection) }
    }

    private func openCounted() async throws -> GatewayConnection {
        do {
            return try await open(for: .requests)
        } catch {
            giveBack(nil)
            throw error
        }
    }

    private func wait(
        _ number: Int, _ promise: EventLoopPromise<Pool.Grant>
    ) async throws -> GatewayConnection {
        let loop = promise.futureResult.eventLoop
        let deadline = loop.scheduleTask(in: limits.requestTime) { [self] in
            _ = pool.withLock { $0.leave(number) }
        }
        defer { deadline.cancel() }
        let grant = try await withTaskCancellationHandler {
            try await promise.futureResult.get()
        } onCancel: {
            _ = pool.withLock { $0.leave(number) }
        }
        if Task.isCancelled {
            giveBack(grant)
            throw CancellationError()
        }
        if let grant { return grant }
        return try await openCounted()
    }
}
