import EventLoop

/// Handshakes that have been continued and are to go back to the loop.
final class HandshakeResults: Sendable {
    private let handshakes = Guarded<[Handshake]>([])

    /// Adds one; returns whether the loop must be woken. With several, it has been woken already
    /// and has not looked yet.
    func add(_ handshake: Handshake) -> Bool {
        handshakes.withLock { handshakes in
            handshakes.append(handshake)
            return handshakes.count == 1
        }
    }

    func take() -> [Handshake] {
        handshakes.withLock { handshakes in
            defer { handshakes = [] }
            return handshakes
        }
    }
}
