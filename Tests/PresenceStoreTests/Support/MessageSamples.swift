import PresenceStore

/// A content with everything.
func content(_ id: Int64, body: [UInt8] = name("今天的天气真好。"), from sender: String = "zs")
    -> MessageContentRow
{
    var row = MessageContentRow(id: id)
    row.sender = name(sender)
    row.senderDevice = name("phone")
    row.time = 1_763_700_000_000 + id
    row.body = body
    row.ext = name("{\"itemType\":1}")
    row.ref = name("m\(id)")
    row.kind = 1
    row.language = name("zh")
    row.addressed = name("电话")
    row.extra = name("<thread>1</thread>")
    return row
}

/// The recipients of a message, as the store is given them.
func recipients(_ id: Int64, _ accounts: String..., expires: Int64 = 1_000) -> [MessageRow] {
    accounts.enumerated().map { place, account in
        var row = MessageRow(id: id, place: UInt16(place), account: name(account))
        row.bytes = 41
        row.expires = expires
        return row
    }
}

/// A row as it is loaded.
func loaded(_ row: MessageRow, from sender: String = "zs") -> MessageRow {
    var row = row
    row.sender = name(sender)
    row.time = content(row.id).time
    return row
}

func key(_ id: Int64, _ place: UInt16 = 0) -> MessageKey { MessageKey(id: id, place: place) }
