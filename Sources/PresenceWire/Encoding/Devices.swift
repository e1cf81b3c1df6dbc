internal import PresenceCore

// Devices with labels or a push address. What a device does not have is left out.

extension LabelledEntry: ListElement {
    func append(to json: inout [UInt8], _ source: borrowing EventSource) {
        json.append(#"{"device":"#)
        json.appendString(device, source)
        if let session {
            json.append(#","client":""#)
            json.append(session.client.word)
            json.append(#"","connection":""#)
            json.append(session.connection.word)
            json.append(session.connection == .pushOnly ? #"","push":true"# : "\"")
        }
        json.appendMembers(of: labels)
        json.append("}")
    }
}

extension [UInt8] {
    /// Appends the members of what a device has, each after a comma.
    mutating func appendMembers(of labels: DeviceLabels) {
        appendText(#","alias":"#, labels.alias)
        if !labels.tags.isEmpty {
            append(#","tags":["#)
            for (place, tag) in labels.tags.enumerated() {
                if place > 0 { append(",") }
                appendString(tag.span)
            }
            append("]")
        }
        appendText(#","pushAddress":"#, labels.pushAddress)
    }
}
