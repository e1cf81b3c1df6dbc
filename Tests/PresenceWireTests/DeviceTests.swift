import PresenceWire
import Testing

@testable import PresenceCore

/// The requests and results of `setDevice` and `devices`.
@Suite struct `Devices on the wire` {
    private func set(_ params: String) -> (decoded: Decoded, request: SetDevice?) {
        let decoded = Decoded.params("setDevice", params)
        guard case .command(.setDevice(_, let request)) = decoded.method else {
            return (decoded, nil)
        }
        return (decoded, request)
    }

    @Test func `a request with all it may say`() throws {
        let (decoded, request) = set(
            #"{"account":"lisi","device":"d 1","alias":"\u4e2d","tags":["b","","a.","b"],"#
                + #""pushAddress":"\u0000","unknown":null}"#)
        let found = try #require(request)
        guard case .command(.setDevice(let account, _)) = decoded.method else { return }
        #expect(decoded.string(account) == "lisi")
        #expect(decoded.string(found.device) == "d 1")
        #expect(decoded.string(found.alias) == "中")
        // As they are: the engine says which of them is invalid.
        #expect(decoded.names == ["b", "", "a.", "b"])
        #expect(found.tags == NameList(start: 0, count: 4))
        #expect(decoded.string(found.pushAddress) == "\0")
    }

    @Test func `what is not given differs from what is empty`() {
        #expect(set("{}").request == SetDevice())
        let (_, request) = set(#"{"alias":"","tags":[],"pushAddress":""}"#)
        #expect(request?.alias?.count == 0)
        #expect(request?.tags == NameList(start: 0, count: 0))
        #expect(request?.pushAddress?.count == 0)
    }

    @Test func `labels of any length, and any number of them, are for the engine`() {
        let long = String(repeating: "x", count: 5_000)
        let tags = (0..<2_000).map { "\"\($0)\"" }.joined(separator: ",")
        let (decoded, request) = set(
            #"{"alias":"\#(long)","pushAddress":"\#(long)","tags":[\#(tags)]}"#)
        #expect(request?.alias?.count == 5_000)
        #expect(request?.pushAddress?.count == 5_000)
        #expect(decoded.names.count == 2_000)
    }

    @Test(
        arguments: [
            (#""tags":[1]"#, Rejection.Field.tags, 0), (#""tags":["a",null]"#, .tags, 1),
            (#""tags":"a""#, .tags, nil), (#""tags":null"#, .tags, nil),
            (#""tags":{}"#, .tags, nil),
            (#""alias":null"#, .alias, nil), (#""alias":["a"]"#, .alias, nil),
            (#""pushAddress":1"#, .pushAddress, nil),
            (#""pushAddress":null"#, .pushAddress, nil), (#""device":5"#, .device, nil),
        ] as [(String, Rejection.Field, Int?)])
    func `a wrong type comes first`(member: String, field: Rejection.Field, index: Int?) {
        let (decoded, _) = set(#"{\#(member)}"#)
        #expect(decoded.rejection == Rejection(.wrongType, field: field, index: index))
    }

    @Test func `a device is a name`() {
        #expect(
            set(#"{"device":"","alias":"."}"#).decoded.rejection
                == Rejection(.invalidName, field: .device, limit: 64))
        #expect(
            set(#"{"device":"\#(String(repeating: "x", count: 65))"}"#).decoded.rejection
                == Rejection(.tooLong, field: .device, limit: 64, count: 65))
    }

    @Test func `a list of devices is of an account`() {
        #expect(Decoded.params("devices", "{}").method == .command(.devices(account: nil)))
        #expect(
            Decoded.params("devices", #"{"account":" "}"#).rejection
                == Rejection(.invalidName, field: .account, limit: 128))
    }

    private func result(_ answer: Answer, _ effects: Effects) -> String {
        var bytes: [UInt8] = []
        bytes.appendAnswerResult(answer, in: effects, settings: Settings())
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func `what is empty is left out`() {
        var effects = Effects()
        let phone = effects.copy(Array("d\"".utf8))
        let all = DeviceLabels(
            alias: Array("中".utf8), tags: [Array("b".utf8), Array("a".utf8)],
            pushAddress: Array("{\"a\":1}\n".utf8))
        effects.labelled = [
            LabelledEntry(device: phone, labels: .none),
            LabelledEntry(
                device: phone, labels: all,
                session: LabelledEntry.Session(client: .ios, connection: .connected)),
            LabelledEntry(
                device: phone,
                labels: DeviceLabels(alias: [], tags: [], pushAddress: Array("p".utf8)),
                session: LabelledEntry.Session(client: .xmpp, connection: .pushOnly)),
        ]
        let lines = [
            #"{"device":"d\""}"#,
            #"{"device":"d\"","client":"ios","connection":"connected","alias":"中","#
                + #""tags":["a","b"],"pushAddress":"{\"a\":1}\n"}"#,
            #"{"device":"d\"","client":"xmpp","connection":"push","push":true,"pushAddress":"p"}"#,
        ]
        for (index, line) in lines.enumerated() {
            let push =
                index == 0 ? "" : #","pushable":false,"pushReason":"no_push_key""#
            #expect(result(.deviceSet(index), effects) == #"{"device":\#(line)\#(push)}"#)
        }
        #expect(
            result(.devices(0..<3), effects) == #"{"devices":[\#(lines.joined(separator: ","))]}"#)
        #expect(result(.devices(0..<0), effects) == #"{"devices":[]}"#)
    }

    @Test func `the largest list fits a frame, however it is escaped`() {
        var effects = Effects()
        let limits = Limits()
        let name = effects.copy([UInt8](repeating: 0x22, count: limits.deviceBytesMax))
        let labels = DeviceLabels(
            alias: [], tags: (0..<25).map { [UInt8](repeating: 0x41, count: 39) + [$0] },
            pushAddress: [UInt8](repeating: 0, count: Limits.pushAddressBytesMax))
        for _ in 0..<Limits.devicesPerAccountMax + limits.sessionsPerAccountMax {
            effects.labelled.append(LabelledEntry(device: name, labels: labels))
        }
        var bytes: [UInt8] = []
        let outcome = bytes.appendAnswerBody(
            .devices(0..<effects.labelled.count), to: .integer(1), in: effects,
            settings: Settings())
        #expect(outcome == .appended)
    }
}
