import PresenceWire

/// The requests of a run. The id of a request is its kind, so that a response names it too.
enum RequestKind: Int {
    case login = 1
    case subscribe, unsubscribe, publish, ping, query, logout, clear, stats, send, take
}

extension [UInt8] {
    /// Appends a frame around what `body` appends.
    mutating func appendFrame(_ body: (inout [UInt8]) -> Void) {
        Framing.native.append(to: &self, body)
    }

    mutating func append(text: StaticString) {
        unsafe append(
            contentsOf: UnsafeBufferPointer(
                start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    mutating func append(integer: Int) {
        append(contentsOf: String(integer).utf8)
    }

    /// Appends a request up to the brace that opens its parameters.
    private mutating func appendHead(_ kind: RequestKind) {
        append(text: #"{"jsonrpc":"2.0","id":"#)
        append(integer: kind.rawValue)
        append(text: #","method":""#)
        append(contentsOf: "\(kind)".utf8)
        append(text: #"","params":{"#)
    }

    mutating func appendLogin(
        _ account: Int, _ names: Names, sync: LoginSync, messages: LoginMessages
    ) {
        appendFrame { bytes in
            bytes.appendHead(.login)
            bytes.append(text: #""account":""#)
            names.append(account, to: &bytes)
            bytes.append(text: #"","device":"d","sync":""#)
            bytes.append(contentsOf: sync.rawValue.utf8)
            bytes.append(text: messages == .read ? #"","messages":true}}"# : #""}}"#)
        }
    }

    mutating func appendAppServerLogin(key: String?) {
        appendFrame { bytes in
            bytes.appendHead(.login)
            if let key {
                bytes.append(text: #""key":""#)
                bytes.append(contentsOf: key.utf8)
                bytes.append(text: #""}}"#)
            } else {
                bytes.append(text: #""client":"server"}}"#)
            }
        }
    }

    /// `acting` is the account that an app server acts for.
    mutating func appendSubscribe(
        to publishers: some Sequence<Int>, acting: Int? = nil, expirySeconds: Int, _ names: Names
    ) {
        appendFrame { bytes in
            bytes.appendHead(.subscribe)
            bytes.appendActing(acting, names)
            bytes.append(text: #""type":1,"expiry":"#)
            bytes.append(integer: expirySeconds)
            bytes.append(text: #","publishers":["#)
            bytes.appendNames(publishers, names)
            bytes.append(text: "]}}")
        }
    }

    /// All of type 1.
    mutating func appendUnsubscribeAll() {
        appendFrame { bytes in
            bytes.appendHead(.unsubscribe)
            bytes.append(text: #""type":1}}"#)
        }
    }

    mutating func appendPublish(value: Int) {
        appendFrame { bytes in
            bytes.appendHead(.publish)
            bytes.append(text: #""type":1,"value":"#)
            bytes.append(integer: value)
            bytes.append(text: "}}")
        }
    }

    mutating func appendSend(to account: Int, bodyBytes: Int, _ names: Names) {
        appendFrame { bytes in
            bytes.appendHead(.send)
            bytes.append(text: #""accounts":["#)
            bytes.appendNames(CollectionOfOne(account), names)
            bytes.append(text: #"],"body":""#)
            bytes.append(contentsOf: repeatElement(UInt8(ascii: "x"), count: bodyBytes))
            bytes.append(text: #""}}"#)
        }
    }

    mutating func appendTake(_ message: [UInt8]) {
        appendFrame { bytes in
            bytes.appendHead(.take)
            bytes.append(text: #""id":""#)
            bytes.append(contentsOf: message)
            bytes.append(text: #""}}"#)
        }
    }

    mutating func appendQuery(_ accounts: some Sequence<Int>, _ names: Names) {
        appendFrame { bytes in
            bytes.appendHead(.query)
            bytes.append(text: #""type":1,"accounts":["#)
            bytes.appendNames(accounts, names)
            bytes.append(text: "]}}")
        }
    }

    /// A request without parameters.
    mutating func appendPlain(_ kind: RequestKind) {
        appendFrame { bytes in
            bytes.appendHead(kind)
            bytes.append(text: "}}")
        }
    }

    /// A ping with a parameter that no method has, an object with as many members as fit into
    /// `bodyBytes` bytes.
    mutating func appendLargePing(bodyBytes: Int) {
        appendFrame { bytes in
            let start = bytes.count
            bytes.appendHead(.ping)
            bytes.append(text: #""x":{"0":0"#)
            var number = 1
            while bytes.count - start < bodyBytes - 20 {
                bytes.append(text: #",""#)
                bytes.append(integer: number)
                bytes.append(text: #"":1"#)
                number += 1
            }
            bytes.append(text: "}}}")
        }
    }

    private mutating func appendActing(_ account: Int?, _ names: Names) {
        guard let account else { return }
        append(text: #""account":""#)
        names.append(account, to: &self)
        append(text: #"","#)
    }

    private mutating func appendNames(_ accounts: some Sequence<Int>, _ names: Names) {
        var isFirst = true
        for account in accounts {
            if !isFirst { append(UInt8(ascii: ",")) }
            isFirst = false
            append(UInt8(ascii: "\""))
            names.append(account, to: &self)
            append(UInt8(ascii: "\""))
        }
    }
}

/// Which states a login asks for.
enum LoginSync: String { case online, all, none }

/// Whether a login asks for messages.
enum LoginMessages { case none, read }
