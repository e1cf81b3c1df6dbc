// What an app can say of a device, and the rules for it: those of `setDevice` in docs/PROTOCOL.md.
// The numbers of the rejections and their meanings are those of JPush.

/// Parameters of `setDevice`. The engine checks the labels: the limits depend on what the device
/// has already.
public struct SetDevice: Hashable, Sendable {
    /// The device; nil: that of the session.
    public var device: ByteRange?
    /// The alias; empty: none; nil: as it is.
    public var alias: ByteRange?
    /// The tags, with repeats, whatever they are; none: none; nil: as they are.
    public var tags: NameList?
    /// The push address; empty: none; nil: as it is.
    public var pushAddress: ByteRange?
    /// The push address without which nothing is changed; nil: whatever it has.
    public var ifPushAddress: ByteRange?

    /// A request to set those that are given.
    public init(
        device: ByteRange? = nil, alias: ByteRange? = nil, tags: NameList? = nil,
        pushAddress: ByteRange? = nil, ifPushAddress: ByteRange? = nil
    ) {
        self.device = device
        self.alias = alias
        self.tags = tags
        self.pushAddress = pushAddress
        self.ifPushAddress = ifPushAddress
    }
}

/// The alias, the tags and the push address of a device.
public struct DeviceLabels: Hashable, Sendable {
    /// Its alias; empty: none.
    public let alias: [UInt8]
    /// Its tags, each once, in the order of their bytes.
    public let tags: [[UInt8]]
    /// What a push sender needs to reach it, which the service passes on; empty: none.
    public let pushAddress: [UInt8]

    /// Nothing: what a device has that was never set.
    public static let none = DeviceLabels(alias: [], tags: [], pushAddress: [])

    /// Labels that have been checked; repeated tags count once.
    init(alias: [UInt8], tags: [[UInt8]], pushAddress: [UInt8]) {
        self.alias = alias
        self.tags = Set(tags).sorted { $0.lexicographicallyPrecedes($1) }
        self.pushAddress = pushAddress
    }

    /// Labels from the store, with the tags in the form of `storedTags`. What cannot be a label or
    /// an address by its length is left out.
    public init(alias: [UInt8], storedTags: [UInt8], pushAddress: [UInt8]) {
        let lengths = 1...Limits.labelBytesMax
        let tags = storedTags.split(separator: Self.separator).map { Array($0) }
        self.init(
            alias: lengths.contains(alias.count) ? alias : [],
            tags: tags.filter { lengths.contains($0.count) },
            pushAddress: pushAddress.count <= Limits.pushAddressBytesMax ? pushAddress : [])
    }

    /// The tags with a byte 0x1F between them, which no tag contains.
    public var storedTags: [UInt8] { Array(tags.joined(separator: [Self.separator])) }

    private static let separator: UInt8 = 0x1F

    /// Whether there is nothing of them.
    public var isEmpty: Bool { alias.isEmpty && tags.isEmpty && pushAddress.isEmpty }

    /// The same without the push address.
    public var withoutAddress: DeviceLabels {
        DeviceLabels(alias: alias, tags: tags, pushAddress: [])
    }

    /// The bytes of the alias and the tags, for the limit on both together.
    var labelByteCount: Int { tags.reduce(alias.count) { $0 + $1.count } }
}

/// The rule for aliases and tags.
public enum LabelRule {
    /// The first invalid character of a label; nil: the label is valid. O(bytes).
    public static func firstInvalid(in label: [UInt8]) -> Unicode.Scalar? {
        String(decoding: label, as: UTF8.self).unicodeScalars.first { !admits($0) }
    }

    /// Whether a label may have a character: a letter or digit of ASCII, `_`, or one of Han that
    /// is a `Unified_Ideograph` of Unicode.
    static func admits(_ character: Unicode.Scalar) -> Bool {
        switch character {
        case "a"..."z", "A"..."Z", "0"..."9", "_": true
        default: !character.isASCII && character.properties.isUnifiedIdeograph
        }
    }
}

/// What is to become of the labels of a device.
public struct DeviceChange: Hashable, Sendable {
    /// The alias; empty: none; nil: as it is.
    public var alias: [UInt8]?
    /// The tags, with repeats; empty: none; nil: as they are.
    public var tags: [[UInt8]]?
    /// The push address; empty: none; nil: as it is.
    public var pushAddress: [UInt8]?
    /// The push address without which nothing is changed; nil: whatever the device has.
    public var ifPushAddress: [UInt8]?

    /// The removal of all three.
    public static let removal = DeviceChange(alias: [], tags: [], pushAddress: [])

    /// What a device has after the change that had `before`. The checks are in the order of the
    /// table in docs/PROTOCOL.md: the first rejection counts.
    public func applied(to before: DeviceLabels) throws(Rejection) -> DeviceLabels {
        try checkParts()
        let after = DeviceLabels(
            alias: alias ?? before.alias, tags: tags ?? before.tags,
            pushAddress: pushAddress ?? before.pushAddress)
        guard after.labelByteCount <= Limits.labelsBytesMax else {
            throw Rejection(
                .labelsTooLong, limit: Limits.labelsBytesMax, count: after.labelByteCount)
        }
        guard after.pushAddress.count <= Limits.pushAddressBytesMax else {
            throw Rejection(
                .tooLong, field: .pushAddress, limit: Limits.pushAddressBytesMax,
                count: after.pushAddress.count)
        }
        return after
    }

    /// Makes the first of these checks: those that do not depend on the device.
    func checkParts() throws(Rejection) {
        guard alias != nil || tags != nil || pushAddress != nil else {
            throw Rejection(.nothingSet)
        }
        try checkAlias()
        try checkTags()
    }

    private func checkAlias() throws(Rejection) {
        guard let alias else { return }
        if let character = LabelRule.firstInvalid(in: alias) {
            throw Rejection(.invalidAlias, field: .alias, character: character)
        }
        guard alias.count <= Limits.labelBytesMax else {
            throw Rejection(
                .aliasTooLong, field: .alias, limit: Limits.labelBytesMax, count: alias.count)
        }
    }

    private func checkTags() throws(Rejection) {
        guard let tags else { return }
        let count = tags.count <= Limits.tagsPerDeviceMax ? tags.count : Set(tags).count
        guard count <= Limits.tagsPerDeviceMax else {
            throw Rejection(
                .tooManyTags, field: .tags, limit: Limits.tagsPerDeviceMax, count: count)
        }
        for (index, tag) in tags.enumerated() {
            let character = LabelRule.firstInvalid(in: tag)
            guard character == nil, !tag.isEmpty else {
                throw Rejection(.invalidTag, field: .tags, index: index, character: character)
            }
            guard tag.count <= Limits.labelBytesMax else {
                throw Rejection(
                    .tagTooLong, field: .tags, limit: Limits.labelBytesMax, count: tag.count,
                    index: index)
            }
        }
    }
}
