internal import CSimdJSON
internal import PresenceCore

/// The words of the parameter `action` of `relate`.
enum ContactVerb {
    case say(RelationWord)
    case describe
    case remove
}

// The parameters of the methods about relationships.
extension RequestDecoder {
    mutating func readRelate() throws(Rejection) -> Command {
        let account = try readAccount()
        let contact = try required(
            readName(.contact, bytesMax: limits.accountBytesMax), .contact)
        let verb = try required(readWord(.action, vocabularies.actions), .action)
        // What an action does not use is checked all the same, so that a client notices its error.
        let text = try readText(.text, bytesMax: limits.requestTextBytesMax)
        let label = try readLabel()
        let action: ContactAction =
            switch verb {
            case .say(let word): .say(word, text: word == .subscribe ? text.map { bytes($0) } : nil)
            case .describe: .describe(label)
            case .remove: .remove
            }
        return .relate(account: account, contact: contact, action)
    }

    private mutating func readLabel() throws(Rejection) -> ContactLabel {
        let bytesMax = ContactLabel.bytesMax
        let nameBytesMax = ContactLabel.nameBytesMax
        let name = try readName(.name, bytesMax: nameBytesMax).map { bytes($0) } ?? []
        var groups: [[UInt8]] = []
        if let member = params[Parameter.groups.key], member.kind != CSJ_ARRAY || member.count > 0 {
            let list = try required(
                readNames(.groups, countMax: bytesMax / 2, bytesMax: nameBytesMax), .groups)
            for place in Int(list.start)..<Int(list.start + list.count) {
                groups.append(bytes(names[place]))
            }
        }
        guard let label = ContactLabel(name: name, groups: groups) else {
            let count = groups.reduce(name.count) { $0 + $1.count + 1 }
            throw Rejection(.tooLong, field: .groups, limit: bytesMax, count: count)
        }
        return label
    }

    func readSetVisibility() throws(Rejection) -> Command {
        .setVisibility(
            account: try readAccount(),
            try required(readWord(.visibility, vocabularies.visibilities), .visibility))
    }

    func readAvailability() throws(Rejection) -> Availability {
        Availability(
            show: try readWord(.show, vocabularies.shows) ?? .available,
            priority: Int8(
                clamping: try readInteger(
                    .priority, min: Int(Int8.min), max: Int(Int8.max)) ?? 0),
            text: try readText(.text, bytesMax: limits.availabilityTextBytesMax).map { bytes($0) })
    }
}
