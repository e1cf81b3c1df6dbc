/// The purpose of a wheel entry, packed into the payload that the wheel stores.
enum Deadline {
    /// Some subscription of this account may have expired.
    case subscriptions(UInt32)
    /// This status expires.
    case status(UInt32)
    /// This session's phase ends: grace, push or restart.
    case session(UInt32)
    /// Unused accounts are to be checked.
    case accountRetention
    /// Some message for this account may have expired.
    case inbox(UInt32)

    var payload: UInt64 {
        switch self {
        case .subscriptions(let number): UInt64(number)
        case .status(let number): 1 << 32 | UInt64(number)
        case .session(let number): 2 << 32 | UInt64(number)
        case .accountRetention: 3 << 32
        case .inbox(let number): 4 << 32 | UInt64(number)
        }
    }

    init(payload: UInt64) {
        let number = UInt32(truncatingIfNeeded: payload)
        switch payload >> 32 {
        case 0: self = .subscriptions(number)
        case 1: self = .status(number)
        case 2: self = .session(number)
        case 3: self = .accountRetention
        case 4: self = .inbox(number)
        default: preconditionFailure("a payload that no deadline has made")
        }
    }
}
