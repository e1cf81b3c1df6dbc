/// The devices of whose presence a client was sent something that was addressed to it, by hashes.
struct PresentedDevices {
    /// Devices that are told apart. The pace of what strangers send lets two more come a second, so
    /// it takes half an hour to reach that; from then on, the end of any device is told, in brief.
    static let countMax = 4_096

    private var hashes: Set<Int> = []

    /// Whether devices are not told apart any more.
    var isFull: Bool { hashes.count == Self.countMax }

    /// Notes that a client was sent the presence of a device.
    mutating func begin(_ device: Int) {
        guard hashes.count < Self.countMax else { return }
        hashes.insert(device)
    }

    /// Notes that a device is gone. Returns whether the client is to be told.
    @discardableResult
    mutating func end(_ device: Int) -> Bool {
        isFull || hashes.remove(device) != nil
    }
}
