internal import PresenceCore

// The parameters of the methods about devices.
extension RequestDecoder {
    /// Of the labels only the kinds of values are checked. The engine checks the rest, in the order
    /// that the protocol says.
    mutating func readSetDevice() throws(Rejection) -> Command {
        .setDevice(
            account: try readAccount(),
            SetDevice(
                device: try readName(.device, bytesMax: limits.deviceBytesMax),
                alias: try readText(.alias), tags: try readTexts(.tags),
                pushAddress: try readText(.pushAddress),
                ifPushAddress: try readText(.ifPushAddress)))
    }
}
