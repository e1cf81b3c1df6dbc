import NIOCore
import Synchronization

extension Gateway {
    /// A connection for one request. It must be given back in every case.
    func borrow() async throws -> GatewayConnection {
        let loop = group.next()
        switch pool.withLock({ $0.borrow(on: loop) }) {
        case .take(let connection): return connection
        case .open: return try await openCounted()
        case .wait(let number, let grant): return try await wait(number, grant)
        case .refused: throw GatewayError.overloaded
        case .closed: throw GatewayError.ended
        }
    }

    /// Takes back a connection, which may have ended.
    func giveBack(_ connection: GatewayConnection?) {
        pool.withLock { $0.giveBack(connection) }?.close()
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
        _ number: Int, _ future: EventLoopFuture<GatewayConnection?>
    ) async throws -> GatewayConnection {
        let deadline = future.eventLoop.scheduleTask(in: limits.requestTime) { [self] in
            pool.withLock { $0.leave(number, GatewayError.overloaded) }
        }
        defer { deadline.cancel() }
        let grant = try await withTaskCancellationHandler {
            try await future.get()
        } onCancel: {
            pool.withLock { $0.leave(number, CancellationError()) }
        }
        if Task.isCancelled {
            giveBack(grant)
            throw CancellationError()
        }
        if let grant { return grant }
        return try await openCounted()
    }
}
