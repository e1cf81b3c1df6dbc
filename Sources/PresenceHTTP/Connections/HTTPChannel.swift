import HummingbirdCore
import Logging
import NIOCore

/// How a connection is set up: HTTP, with or without TLS below it.
struct HTTPChannel: ServerChildChannel {
    let base: HTTP1Channel
    /// Nil: without TLS.
    let tls: TLSHandlers?

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        base.setup(channel: channel, logger: logger).flatMapThrowing { value in
            guard let tls else { return value }
            // Last, because other handlers have made themselves the first one.
            try channel.pipeline.syncOperations.addHandler(tls.make(), position: .first)
            return value
        }
    }

    func handle(value: HTTP1Channel.Value, logger: Logger) async {
        await base.handle(value: value, logger: logger)
    }
}
