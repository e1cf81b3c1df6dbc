/// What a device shows of its user, as in RFC 6121, section 4.7.2.1.
public enum Show: UInt8, CaseIterable, Sendable {
    /// Nothing in particular: available.
    case available
    /// Interested in talking.
    case chat
    /// Away for a short time.
    case away
    /// Away for a longer time ("extended away").
    case xa
    /// Busy ("do not disturb").
    case dnd
}

/// How a device presents itself, for as long as its session lasts.
public struct Availability: Hashable, Sendable {
    /// What it shows.
    public var show: Show
    /// The preference among the devices of an account, -128 to 127.
    public var priority: Int8
    /// A text for people, in UTF-8, at most `Limits.availabilityTextBytesMax`; nil for none.
    public var text: [UInt8]?
    /// The language of `text` as a tag of BCP 47; empty if it is not known.
    public var language: [UInt8]
    /// Further content as the device's protocol writes it. The engine never looks into it.
    public var extra: [UInt8]

    /// How a device presents itself; by default, as available and nothing more.
    public init(
        show: Show = .available, priority: Int8 = 0, text: [UInt8]? = nil, language: [UInt8] = [],
        extra: [UInt8] = []
    ) {
        self.show = show
        self.priority = priority
        self.text = text
        self.language = language
        self.extra = extra
    }
}
