import PresenceWire

/// The requests of a run. The id of a request is its kind, so that a response names it too.
enum RequestKind: Int {
    case login = 1
    case subscribe, unsubscribe, publish, ping, query, logout, clear, stats, send, take
}

extension [UInt8] {
    /// Appends a request with these members of its parameters.
    mutating func appendRequest(_ kind: RequestKind, _ params: String = "") {
        let (id, method) = (kind.rawValue, kind)
        let body = #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":{\#(params)}}"#
        Framing.native.append(to: &self) { $0.append(contentsOf: body.utf8) }
    }

    mutating func appendLogin(
        _ account: Int, _ names: Names, sync: LoginSync, messages: LoginMessages
    ) {
        let name = names.text(account)
        let more = messages == .read ? #","messages":true"# : ""
        appendRequest(.login, #""account":"\#(name)","device":"d","sync":"\#(sync)"\#(more)"#)
    }

    mutating func appendAppServerLogin(key: String?) {
        appendRequest(.login, key.map { #""key":"\#($0)""# } ?? #""client":"server""#)
    }

    /// `acting` is the account that an app server acts for.
    mutating func appendSubscribe(
        to publishers: some Sequence<Int>, acting: Int? = nil, expirySeconds: Int, _ names: Names
    ) {
        let account = acting.map { #""account":"\#(names.text($0))","# } ?? ""
        let list = names.list(publishers)
        appendRequest(
            .subscribe, #"\#(account)"type":1,"expiry":\#(expirySeconds),"publishers":\#(list)"#)
    }

    /// All of type 1.
    mutating func appendUnsubscribeAll() { appendRequest(.unsubscribe, #""type":1"#) }

    mutating func appendPublish(value: Int) {
        appendRequest(.publish, #""type":1,"value":\#(value)"#)
    }

    mutating func appendSend(to account: Int, bodyBytes: Int, _ names: Names) {
        let body = String(repeating: "x", count: bodyBytes)
        appendRequest(.send, #""accounts":["\#(names.text(account))"],"body":"\#(body)""#)
    }

    mutating func appendTake(_ message: [UInt8]) {
        appendRequest(.take, #""id":"\#(String(decoding: message, as: UTF8.self))""#)
    }

    mutating func appendQuery(_ accounts: some Sequence<Int>, _ names: Names) {
        appendRequest(.query, #""type":1,"accounts":\#(names.list(accounts))"#)
    }

    /// A ping with a parameter that no method has, an object with as many members as fit into
    /// `bodyBytes` bytes.
    mutating func appendLargePing(bodyBytes: Int) {
        var members = #""0":0"#
        var number = 1
        // 55 bytes precede the members. The last one and what closes the request take at most 20.
        while members.utf8.count < bodyBytes - 75 {
            members += #","\#(number)":1"#
            number += 1
        }
        appendRequest(.ping, #""x":{\#(members)}"#)
    }
}

/// Which states a login asks for.
enum LoginSync { case online, all, none }

/// Whether a login asks for messages.
enum LoginMessages { case none, read }
