internal import Containers

/// Stanzas for the receivers at one domain: the only gaps that are left are those for bare JIDs.
///
/// Domains are filled in once for all receivers that have the same.
public struct DomainStanzas: Sendable {
    /// The domain of the receivers; empty: there are no stanzas.
    public private(set) var domain: [UInt8] = []
    /// The stanzas without the values of `to`.
    public private(set) var bytes: [UInt8] = []
    /// Where the bare JID of the receiver belongs, in rising order.
    public private(set) var gaps: [Int] = []

    /// No stanzas.
    public init() {}

    /// Makes it a part of a template, for a domain.
    public mutating func fill(
        _ part: StanzaTemplate.Part, of template: borrowing StanzaTemplate, at domain: [UInt8]
    ) {
        removeAll()
        self.domain = domain
        let source = template.bytes.span
        let gapsOfSource = template.gaps.span
        var start = part.bytes.lowerBound
        for index in part.gaps {
            let place = Int(gapsOfSource[index].place)
            bytes.append(source.extracting(start..<place))
            switch gapsOfSource[index].filling {
            case .domain: bytes.append(domain.span)
            case .receiver: gaps.append(bytes.count)
            }
            start = place
        }
        bytes.append(source.extracting(start..<part.bytes.upperBound))
    }

    /// The same, unless it is for this domain already.
    public mutating func fillOnce(
        _ part: StanzaTemplate.Part, of template: borrowing StanzaTemplate, at domain: [UInt8]
    ) {
        if domain != self.domain { fill(part, of: template, at: domain) }
    }

    /// Forgets everything, and keeps the memory.
    public mutating func removeAll() {
        domain = []
        bytes.clear()
        gaps.clear()
    }
}

extension [UInt8] {
    /// Appends stanzas as the receiver with a bare JID gets them.
    public mutating func append(_ stanzas: borrowing DomainStanzas, to jid: [UInt8]) {
        // Each array is looked at once: every access to it may be a retain and a release.
        let bytes = stanzas.bytes.span
        let gaps = stanzas.gaps.span
        let name = jid.span
        var start = 0
        for place in gaps.indices {
            append(bytes.extracting(start..<gaps[place]))
            append(name)
            start = gaps[place]
        }
        append(bytes.extracting(start..<bytes.count))
    }
}
