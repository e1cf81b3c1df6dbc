import Containers

/// How a connection is watched for silence.
struct Silence {
    /// When it may have been silent for too long.
    var deadline = WheelTimer()
    /// Whether it was not read from when it was last looked at.
    private var wasUnread = false

    /// Looks at it. Returns whether bytes may have arrived that had no chance to be read: it is not
    /// read from now, or was not when it was last looked at.
    mutating func mayHaveArrived(isUnread: Bool) -> Bool {
        defer { wasUnread = isUnread }
        return isUnread || wasUnread
    }
}
