/// What an app has said of a device. The store does not look into it.
public struct DeviceRow: Sendable, Equatable {
    /// The account.
    ///
    /// With `device` the row's key.
    public var account: [UInt8]
    /// The device of the account.
    public var device: [UInt8]
    /// Its alias; empty: none.
    public var alias: [UInt8] = []
    /// Its tags, in one text.
    public var tags: [UInt8] = []
    /// What a push sender needs to reach it; empty: none.
    public var pushAddress: [UInt8] = []
    /// When it was set last, in milliseconds since 1970.
    public var updated: Int64 = 0

    /// Creates a row; the other fields are set afterwards.
    public init(account: [UInt8], device: [UInt8]) {
        self.account = account
        self.device = device
    }

    /// Whether the device has nothing, so that there is no row of it.
    var isEmpty: Bool { byteCount == 0 }

    /// The bytes of the texts, for the limit on a transaction's size.
    var byteCount: Int { alias.count + tags.count + pushAddress.count }
}
