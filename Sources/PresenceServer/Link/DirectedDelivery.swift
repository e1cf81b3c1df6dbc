/// To whom of its receivers a presence for one address is delivered, and how.
enum DirectedDelivery: Sendable {
    /// A device is online: to those that keep up.
    case beginning
    /// A device is offline: to those that were sent that it is online. `brief` says only that, and
    /// is for those that do not keep up.
    case end(brief: BatchIndex<Stanzas>)
    /// A device is offline: to those that see it as subscribers, or are of its account, whether or
    /// not they were sent that it is online.
    case endForSubscribers(brief: BatchIndex<Stanzas>)

    /// The presence that says only that a device is offline; nil: it is not.
    var brief: BatchIndex<Stanzas>? {
        switch self {
        case .beginning: nil
        case .end(let brief), .endForSubscribers(let brief): brief
        }
    }

    /// With another brief presence.
    func with(brief: BatchIndex<Stanzas>) -> Self {
        switch self {
        case .beginning: .beginning
        case .end: .end(brief: brief)
        case .endForSubscribers: .endForSubscribers(brief: brief)
        }
    }
}
