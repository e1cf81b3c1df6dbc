import EventLoop
import TLSSessions

/// A stream that is, or is going to be, encrypted.
final class SecureStream {
    /// The phase of a stream.
    enum Phase {
        /// The ClientHello is not complete. No object of OpenSSL exists. To: `waiting`, `over`.
        case hello
        /// Until there is room for another handshake. To: `working`, `over`.
        case waiting
        /// Its handshake is with a thread of the bench. To: `awaiting`, `open`, `over`.
        case working
        /// For the client's next message of the handshake. To: `working`, `over`.
        case awaiting
        /// To: `over`.
        case open
        /// The owner has closed it, or has been notified of its end after an error.
        case over
    }

    let id: StreamID
    /// The listener whose context it uses.
    let listener: Int
    var phase = Phase.hello
    /// Only in `hello`.
    var reader: ClientHelloReader? = ClientHelloReader()
    /// Only in `waiting` and `awaiting`; in `working` it is in the bench.
    var handshake: Handshake?
    /// Only in `open`.
    var session: TLSSession?
    /// Ciphertext, in order, that waits until the loop's remainder is written: what TLS itself has
    /// to send, and what the owner has written once since then.
    var held: [UInt8] = []
    /// Bytes of it that TLS itself has to send.
    var ownBytesHeld = 0
    /// Whether the owner wants to receive.
    var wantsInput = false
    /// Whether the loop has a remainder that the kernel has not accepted.
    var isBlocked = false
    /// Whether the owner waits until what it has written last is drained.
    var isOwnerWaiting = false
    /// Whether the owner has closed it, and what is held is still to be written.
    var closesWhenDrained = false
    /// Whether the owner has been notified of the end.
    var hasEnded = false
    /// The peer has sent close_notify while the owner did not read: as on a plain stream, the end
    /// is reported when it reads again.
    var endsWhenRead = false
    /// Whether an alert was written that the client should be able to read.
    var hasAlert = false

    /// More means that the client provokes responses and does not read them.
    static let heldBytesMax = 1_024

    init(_ id: StreamID, listener: Int) {
        self.id = id
        self.listener = listener
    }

    /// Whether the socket is to be read: nothing is read that could not be used yet.
    var readsSocket: Bool {
        switch phase {
        case .hello, .awaiting, .open: wantsInput && !hasEnded
        case .waiting, .working, .over: false
        }
    }
}
