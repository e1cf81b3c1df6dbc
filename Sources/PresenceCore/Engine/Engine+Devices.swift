// Devices: their labels are the app's, and stay when their sessions have ended.

extension Engine {
    /// How many devices have labels or a push address.
    public var deviceCount: Int { devices.count }

    /// Restores what a device has. One that has nothing is left out.
    public mutating func restoreDevice(
        of account: AccountHandle, on device: [UInt8], _ labels: DeviceLabels, updated: Wall
    ) {
        devices.set(labels, of: account, on: device, at: updated)
    }
}
