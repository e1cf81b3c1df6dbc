import Containers

/// An account was forgotten that had entries: 24 bytes. They are of no account from then on, also
/// if the name is used again.
struct ForgottenNote {
    /// Of its name, see `NameTable.fingerprint`.
    let fingerprint: UInt32
    /// The last number assigned when it happened.
    let seq: UInt64
    let time: Mono
}

extension History {
    /// When an account was forgotten last whose name has this fingerprint; or before which it may
    /// have been, since older entries were overwritten. Nil: never. O(entries).
    func forgotten(_ fingerprint: UInt32) -> ForgottenNote? {
        var found = forgotten.oldestLeft
        forgotten.forEachNewestFirst { note in
            guard note.fingerprint == fingerprint else { return .on }
            found = note
            return .stop
        }
        return found
    }
}
