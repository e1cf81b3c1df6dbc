/// What has to go out to one connection: bytes of its own, and shares of frames among them. One
/// that is idle, or whose socket takes everything, owns no memory.
public struct Outbox {
    /// Its own: answers and lists, and events that could not be shared, since the socket had not
    /// taken the last write, or outboxes were being written, or there were too many.
    public var bytes: [UInt8] = []
    /// Its newest share in `SharedFrames`. There is none while the socket is blocked.
    @usableFromInline private(set) var newestShare = SharedFrames.noShare
    /// Bytes of its shares.
    @usableFromInline private(set) var sharedCount: UInt32 = 0

    /// An empty one.
    public init() {}

    /// Bytes that have to go out.
    @inlinable public var count: Int { bytes.count + Int(sharedCount) }
    /// Whether some of it is shared with others.
    @inlinable public var hasShares: Bool { newestShare != SharedFrames.noShare }
    /// Whether nothing has to go out.
    @inlinable public var isEmpty: Bool { !hasShares && bytes.isEmpty }
}

extension Outbox {
    /// Is given a share, which is its newest.
    @usableFromInline mutating func addShare(_ number: UInt32, bytesCount: UInt32) {
        newestShare = number
        sharedCount += bytesCount
    }

    /// Forgets its shares; what remains is its own.
    @usableFromInline mutating func forgetShares() {
        newestShare = SharedFrames.noShare
        sharedCount = 0
    }
}
