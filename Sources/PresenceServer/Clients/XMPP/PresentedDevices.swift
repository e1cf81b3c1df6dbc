/// The devices of whose presence a client was sent something that was addressed to it, by hashes.
struct PresentedDevices {
    /// Capacity. At the rate limit of two presences per second from strangers it fills in half an
    /// hour; from then on, the client is sent the end of any device, in brief.
    static let countMax = 4_096

    private var hashes: Set<Int> = []

    /// Whether it has reached its capacity.
    var isFull: Bool { hashes.count == Self.countMax }

    /// Notes that a client was sent the presence of a device.
    mutating func begin(_ device: Int) {
        guard hashes.count < Self.countMax else { return }
        hashes.insert(device)
    }

    /// Notes that a device is offline. Returns whether the client is to be sent that.
    @discardableResult
    mutating func end(_ device: Int) -> Bool {
        isFull || hashes.remove(device) != nil
    }
}
