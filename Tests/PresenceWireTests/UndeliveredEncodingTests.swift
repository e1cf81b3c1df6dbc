import PresenceCore
import Testing

@testable import PresenceWire

@Suite struct `What is undelivered, encoded` {
    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    private func entry(
        _ body: String, _ ext: String = "", textBytesMax: Int = 1_024
    ) -> UndeliveredEntry {
        UndeliveredEntry(
            number: 6,
            message: DeliveredMessage(
                id: MessageID(number: 5), time: Wall(milliseconds: 7), body: bytes(body),
                ext: bytes(ext)),
            textBytesMax: textBytesMax, account: bytes("lisi"), reason: .absent,
            expires: Wall(milliseconds: 9), waiting: 1,
            devices: [])
    }

    private func text(_ entry: UndeliveredEntry) -> String {
        var bytes: [UInt8] = []
        bytes.appendUndelivered(entry, isFirst: true)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func `has only the members that it has something for`() {
        #expect(
            text(entry("")) == #"{"message":"0000000000005","account":"lisi","why":"absent","#
                + #""time":7,"expires":9,"waiting":1,"devices":[]}"#)
    }

    @Test func `has who wrote it, and where it may be pushed to`() {
        var all = entry("今天", "{}")
        all.message.from = bytes("zs")
        all.message.fromDevice = bytes("phone")
        all.message.ref = bytes("m1")
        all.reason = .untaken
        all.waiting = 3
        all.devices = [
            PushDevice(name: bytes("pad"), reach: .connection, labels: .none),
            PushDevice(name: bytes("phone"), client: .ios, reach: .push, labels: .none),
        ]
        #expect(
            text(all) == #"{"message":"0000000000005","account":"lisi","from":"zs","#
                + #""fromDevice":"phone","why":"untaken","time":7,"expires":9,"body":"今天","#
                + #""ext":"{}","ref":"m1","waiting":3,"devices":[{"device":"pad"},"#
                + #"{"device":"phone","client":"ios","push":true}]}"#)
    }

    @Test(arguments: [
        (9, "今天", "ext"), (8, "今天", "ex"), (7, "今天", "e"), (6, "今天", ""), (5, "今", ""),
        (3, "今", ""), (2, "", ""), (0, "", ""),
    ])
    func `is cut at a character, the body first`(bytesMax: Int, body: String, ext: String) {
        let texts = [("body", body), ("ext", ext)].map { name, text in
            text.isEmpty ? "" : #""\#(name)":"\#(text)","#
        }
        let cut = bytesMax < 9 ? #""cut":true,"# : ""
        #expect(
            text(entry("今天", "ext", textBytesMax: bytesMax)).hasSuffix(
                #""expires":9,"# + texts.joined() + cut + #""waiting":1,"devices":[]}"#))
    }

    @Test func `follows the answer and the cursor`() {
        let cursor = FeedCursor(epoch: 1, seq: 2)
        var answer: [UInt8] = []
        answer.appendUndeliveredAnswerBody(cursor: cursor, to: .integer(1))
        #expect(
            String(decoding: answer, as: UTF8.self)
                == #"{"jsonrpc":"2.0","id":1,"result":{"cursor":"\#(cursor.text)"}}"#)
        var body: [UInt8] = []
        body.appendUndeliveredBody(bytes("{},{}")[...], cursor: cursor)
        #expect(
            String(decoding: body, as: UTF8.self)
                == #"{"jsonrpc":"2.0","method":"undelivered","params":{"undelivered":[{},{}],"#
                + #""cursor":"\#(cursor.text)"}}"#)
    }
}
