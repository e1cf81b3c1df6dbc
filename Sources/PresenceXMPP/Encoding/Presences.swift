// Presences. One that many subscribers receive is encoded once: what is before the value of `to`,
// and what is behind it. Between them each receiver has the bytes of its own JID.

public import PresenceCore
internal import XML

/// The custom status of an account, as far as its presences show it.
public struct StatusContent: Hashable, Sendable {
    /// The value, 10,000 or above.
    public var value: Int32
    /// When it expires.
    public var expires: Wall?
    /// What the app has added to it.
    public var ext: [UInt8] = []
}

extension [UInt8] {
    /// Appends a presence up to the value of `to`, for which `appendJID` has the bytes.
    public mutating func appendPresenceStart(
        from account: some Collection<UInt8>, device: (some Collection<UInt8>)?,
        at domain: [UInt8]
    ) {
        append(literal: "<presence from='")
        appendJID(of: account, at: domain, device: device)
        append(literal: "' to='")
    }

    /// Appends the rest of the presence of a device that is available, from the quote behind the
    /// value of `to` on.
    ///
    /// `status` is the custom status of the account, and `since` when the device has presented
    /// itself so, if the receiver did not see that happen.
    public mutating func appendPresenceRest(
        _ availability: Availability, status: StatusContent? = nil, since: Wall? = nil
    ) {
        let isPlain = availability == Availability() && status == nil && since == nil
        append(literal: isPlain ? "'/>" : "'>")
        guard !isPlain else { return }
        if let show = availability.show.word {
            append(literal: "<show>")
            append(literal: show)
            append(literal: "</show>")
        }
        appendStatus(availability)
        if availability.priority != 0 {
            appendXML(element: "priority", text: String(availability.priority).utf8)
        }
        append(contentsOf: availability.extra)
        if let status { append(status) }
        if let since {
            append(literal: "<delay xmlns='urn:xmpp:delay' stamp='")
            append(since)
            append(literal: "'/>")
        }
        append(literal: "</presence>")
    }

    /// Appends the rest of the presence of a device that is unavailable. Of `farewell` the text and
    /// further content are said.
    public mutating func appendUnavailableRest(
        _ farewell: Availability? = nil, since: Wall? = nil
    ) {
        append(literal: "' type='unavailable'")
        guard farewell?.text != nil || farewell?.extra.isEmpty == false || since != nil else {
            append(literal: "/>")
            return
        }
        append(literal: ">")
        if let farewell {
            appendStatus(farewell)
            append(contentsOf: farewell.extra)
        }
        if let since {
            append(literal: "<delay xmlns='urn:xmpp:delay' stamp='")
            append(since)
            append(literal: "'/>")
        }
        append(literal: "</presence>")
    }

    /// Appends the presence of a device that is not available any more, for itself.
    public mutating func appendUnavailable(_ farewell: Availability, of client: StanzaSender) {
        appendPresenceStart(from: client.account, device: client.device, at: client.domain)
        appendJID(of: client.account, at: client.domain)
        appendUnavailableRest(farewell)
    }

    /// Appends what an account says to another about their relationship.
    public mutating func appendWord(
        _ word: RelationWord, from account: some Collection<UInt8>,
        to other: some Collection<UInt8>, at domain: [UInt8], _ content: RequestContent = .none
    ) {
        append(literal: "<presence from='")
        appendJID(of: account, at: domain)
        append(literal: "' to='")
        appendJID(of: other, at: domain)
        append(literal: "' type='")
        append(literal: word.word)
        guard content != .none else {
            append(literal: "'/>")
            return
        }
        append(literal: "'>")
        if let text = content.text { appendXML(element: "status", text: text) }
        append(contentsOf: content.extra)
        append(literal: "</presence>")
    }

    private mutating func appendStatus(_ availability: Availability) {
        guard let text = availability.text else { return }
        append(literal: "<status")
        if !availability.language.isEmpty {
            appendXML(attribute: "xml:lang", availability.language)
        }
        append(literal: ">")
        appendXML(text: text)
        append(literal: "</status>")
    }

    private mutating func append(_ status: StatusContent) {
        append(literal: "<value xmlns='urn:porchlight:status:0' value='")
        append(contentsOf: String(status.value).utf8)
        if let expires = status.expires {
            append(literal: "' expires='")
            append(expires)
        }
        guard !status.ext.isEmpty else {
            append(literal: "'/>")
            return
        }
        append(literal: "'>")
        appendXML(text: status.ext)
        append(literal: "</value>")
    }
}
