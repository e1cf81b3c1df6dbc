import EventLoop
import PresenceClient

/// A client: what it does, what it has been told, and what it may hold the service to.
final class SimulatedClient: SimulatedPeer {
    /// What it is.
    enum Role {
        /// Somebody's device.
        case device
        /// A backend that reads the feed.
        case feedReader
        /// A backend that reads what is undelivered.
        case pusher
    }

    let role: Role
    private let ledger: MessageLedger
    private let labels: DeviceLedger
    /// Where it writes down what it reads of hand-overs; nil: it reads none.
    private let disk: SimulatedDisk?
    /// Whether its session is sent messages, those that it was sent and has not taken, and when
    /// its connection was opened, by the ledger.
    private(set) var readsMessages = false
    private(set) var untaken: [(id: String, body: String)] = []
    private var opened = 0
    private var order = SentOrder()
    /// Whether its device has set its priority, and so may be sent messages out of order, or none.
    private(set) var hasSetPriority = false
    /// Where a pusher is.
    var pusher = SimulatedPusher()
    /// What a reader keeps.
    private(set) var table = SimulatedTable()
    private var received: [UInt8] = []
    private var lastID: Int64 = 0
    /// Requests that are not answered yet, in order.
    private(set) var asked: [(id: Int64, method: String, params: JSON)] = []
    /// The messages that certainly wait no longer when its requests to discard are answered.
    private var discards: [[(body: String, recipient: String)]] = []
    /// What was known of its password when it last sent one.
    var passwordKnown: KnownPassword?
    /// Whether its session is sent what its account sees as a contact.
    private(set) var hearsContacts = false
    /// The accounts that wait for an answer of its account, as far as it knows.
    private(set) var asking: Set<String> = []
    /// By type and publisher: what its session has been told that it does not see any more.
    private var unseen: Set<String> = []
    /// Whether its login list is complete.
    var isSynced = false
    /// By type and publisher: the newest state that it was told, over all its connections.
    private(set) var view: [String: JSON] = [:]
    private(set) var seqs: [String: Int64] = [:]
    /// By type and publisher: what its session was told, and not that the subscription has ended.
    private(set) var current: Set<String> = []
    /// Until when the service has acknowledged it: 0 where it was ended, -1 where it has run
    /// out, nil where it is not certain.
    private(set) var certain: [String: Int64?] = [:]
    /// Its status of type 1 as the service has acknowledged it to be durable; and whether that
    /// is certain.
    private(set) var status: (value: Int64, expires: Int64)?
    private(set) var isStatusCertain = true

    init(
        account: String, device: String, role: Role = .device, ledger: MessageLedger,
        labels: DeviceLedger = DeviceLedger(), disk: SimulatedDisk? = nil
    ) {
        self.role = role
        self.ledger = ledger
        self.labels = labels
        self.disk = disk
        super.init(account: account, device: device)
    }

    /// Whether it is an app server.
    var isReader: Bool { role != .device }

    override var takesAnyMessage: Bool { readingSince != nil && !hasSetPriority }
    override var hasRoom: Bool { untaken.count < 40 }

    override var isWaiting: Bool { !asked.isEmpty }

    override var hasList: Bool { isSynced }

    /// The bytes of a request.
    func request(_ method: String, _ params: JSON) -> [UInt8] {
        lastID += 1
        asked.append((lastID, method, params))
        doubt(method, params)
        if method == "login" { opened = ledger.tick() }
        if method == "setAvailability", params["priority"] != nil {
            hasSetPriority = true
            lastShow = ledger.tick()
        }
        if method == "setDevice" { labels.ask(params, by: self) }
        if method == "discard" {
            discards.append(
                ledger.noteDiscarding(
                    MessageLedger.Discard(
                        account: params["account"]?.string, sender: params["from"]?.string)))
        }
        let body = Array(
            JSON.object([
                "jsonrpc": "2.0", "id": .integer(lastID), "method": .string(method),
                "params": params,
            ]).text.utf8)
        return [0, 0, UInt8(body.count >> 8 & 255), UInt8(body.count & 255)] + body
    }

    /// From now until the answer it is not certain what is true.
    private func doubt(_ method: String, _ params: JSON) {
        let type = params["type"]?.integer ?? 1
        switch method {
        case "subscribe", "unsubscribe":
            let named = params["publishers"]?.array?.compactMap(\.string)
            let all = certain.keys.filter { $0.hasPrefix("\(type)/") }
                .map { String($0.dropFirst("\(type)/".count)) }
            for publisher in named ?? all { certain["\(type)/\(publisher)"] = .some(nil) }
        case "publish", "clear":
            if type == 1 { isStatusCertain = false }
        default: break
        }
    }

    private func notePassword(_ method: String, _ params: JSON, _ message: JSON) {
        let account = params["account"]?.string ?? ""
        let isAccepted = message["result"] != nil
        switch method {
        case "setPassword" where isAccepted, "removePassword" where isAccepted:
            passwordOutcomes.append(
                .changed(account: account, password: params["password"]?.string))
        case "setPassword", "removePassword":
            passwordOutcomes.append(.rejected(account: account))
        case "login":
            let reason = message["error"]?["data"]?["reason"]?.string
            guard let typed = params["password"]?.string, let known = passwordKnown,
                isAccepted || reason == "invalid_password"
            else { return }
            meet(isAccepted ? "right password" : "wrong password")
            passwordOutcomes.append(.login(typed: typed, known: known, isAccepted))
        default: break
        }
    }

    override func connectionEnded() {
        for request in asked where ["setPassword", "removePassword"].contains(request.method) {
            passwordOutcomes.append(.lost(account: request.params["account"]?.string ?? ""))
        }
        for request in asked where request.method == "setDevice" {
            labels.lose(request.params, by: self)
        }
        super.connectionEnded()
        pusher.connectionEnded()
        received = []
        asked = []
        discards = []
        hearsContacts = false
        unseen = []
        current = []
        isSynced = false
        readsMessages = false
        order = SentOrder()
        untaken = []
    }

    override func receive(_ bytes: [UInt8]) {
        received += bytes
        while received.count >= 4 {
            let length = received[0..<4].reduce(0) { $0 << 8 | Int($1) }
            guard received.count >= 4 + length else { return }
            let body = Array(received[4..<4 + length])
            received.removeFirst(4 + length)
            guard !body.isEmpty else { continue }
            guard let message = try? JSON(parsing: body) else {
                return violations.append("not JSON: \(String(decoding: body, as: UTF8.self))")
            }
            handle(message)
        }
    }

    private func handle(_ message: JSON) {
        if let id = message["id"]?.integer {
            guard let first = asked.first, first.id == id else {
                return violations.append("answer \(id) out of order")
            }
            asked.removeFirst()
            notePassword(first.method, first.params, message)
            if first.method == "discard" {
                let discarded = discards.removeFirst()
                if message["result"] != nil { ledger.noteDiscarded(discarded) }
            }
            if let result = message["result"] {
                meet(first.method)
                succeed(first.method, first.params, result)
            } else {
                let reason = message["error"]?["data"]?["reason"]?.string ?? ""
                meet(reason)
                rejected(first.method, first.params, reason)
            }
            // Those that are still under way may change what this one has made certain.
            for request in asked { doubt(request.method, request.params) }
            // A rejection has changed nothing; but what was in doubt stays so.
            return
        }
        let params = message["params"] ?? [:]
        switch message["method"]?.string {
        case "events":
            for event in params["events"]?.array ?? [] { learn(event) }
        case "expired":
            let type = params["type"]?.integer ?? 0
            let isExpiry = params["cause"] == nil
            meet(isExpiry ? "expired" : "unsubscribed")
            for publisher in params["publishers"]?.array ?? [] {
                let key = "\(type)/\(publisher.string ?? "")"
                current.remove(key)
                if isExpiry { expired(key) }
            }
        case "contact":
            if !hearsContacts { violations.append("told of a contact, unasked") }
            meet("contact")
            note(params["contact"] ?? [:])
        case "synced":
            isSynced = true
        case "messages":
            meet("messages")
            for sent in params["messages"]?.array ?? [] { take(in: sent) }
        case "close":
            meet("close \(params["reason"]?.string ?? "")")
        case "feed":
            if pusher.isReading { violations.append("sent the feed, unasked") }
            violations += table.apply(params)
        case "undelivered":
            meet("undelivered")
            guard let disk else { return violations.append("told what is undelivered") }
            for entry in params["undelivered"]?.array ?? [] {
                meet("told \(entry["why"]?.string ?? "")")
            }
            violations += pusher.read(params, of: disk, ledger)
        default: break
        }
    }

    private func succeed(_ method: String, _ params: JSON, _ result: JSON) {
        let type = params["type"]?.integer ?? 1
        switch method {
        case "login":
            isLoggedIn = true
            hearsContacts = params["contacts"] == true
            readsMessages = params["messages"] == true
            readingSince = readsMessages ? ledger.tick() : nil
            tokenEnds = result["expires"]?.integer
        case "refresh":
            tokenEnds = result["expires"]?.integer
        case "send":
            noteSend(
                params, .accepted(id: result["id"]?.string ?? ""),
                expires: result["expires"]?.integer)
        case "take":
            noteTaken(params["id"]?.string ?? "")
        case "discard":
            if result["more"] != nil { meet("discard by sender") }
        case "setDevice":
            violations += labels.succeed(params, result["device"] ?? [:], by: self)
        case "relate":
            note(result["contact"] ?? [:])
        case "contacts":
            for contact in result["contacts"]?.array ?? [] { note(contact) }
        case "feed":
            pusher.end()
            table.begin(result)
        case "undelivered":
            if let fault = pusher.begin(result) { violations.append(fault) }
            meet(pusher.position.entries.isEmpty ? "undelivered from the start" : "resumed")
        case "subscribe":
            for publisher in params["publishers"]?.array?.compactMap(\.string) ?? [] {
                certain["\(type)/\(publisher)"] = .some(result["expires"]?.integer)
            }
            for state in result["states"]?.array ?? [] { learn(state) }
        case "unsubscribe":
            let named = params["publishers"]?.array?.compactMap(\.string)
            for key in certain.keys where key.hasPrefix("\(type)/") {
                let publisher = String(key.dropFirst("\(type)/".count))
                if named?.contains(publisher) != false {
                    certain[key] = .some(.some(0))
                    current.remove(key)
                }
            }
        case "publish" where type == 1:
            isStatusCertain = params["onlineOnly"] == false
            status = (params["value"]?.integer ?? 0, result["expires"]?.integer ?? 0)
        case "clear" where type == 1:
            isStatusCertain = true
            status = nil
        default: break
        }
    }

    private func noteSend(
        _ params: JSON, _ outcome: MessageLedger.Outcome, expires: Int64? = nil
    ) {
        ledger.note(outcome, of: params["body"]?.string ?? "", expires: expires)
    }

    private func rejected(_ method: String, _ params: JSON, _ reason: String) {
        switch method {
        case "send": noteSend(params, .rejected)
        case "undelivered": pusher.reject()
        case "setDevice":
            if let fault = labels.reject(params, reason, by: self) { violations.append(fault) }
        default: break
        }
    }

    private func noteTaken(_ id: String) {
        guard let place = untaken.firstIndex(where: { $0.id == id }) else { return }
        ledger.noteDone(untaken[...place].map(\.body), by: account)
        untaken.removeFirst(place + 1)
    }

    /// It is sent a message.
    private func take(in message: JSON) {
        let (id, body) = (message["id"]?.string ?? "", message["body"]?.string ?? "")
        if !readsMessages { violations.append("sent \(body) unasked") }
        let fault = ledger.fault(body, id: id, to: account, device, opened: opened)
        if let fault { violations.append(fault) }
        let disorder = order.fault(
            id, ledger.entries[body], on: device, takesAll: !hasSetPriority)
        if let disorder { violations.append(disorder) }
        noteSent(body)
        untaken.append((id, body))
    }

    private func note(_ contact: JSON) {
        let name = contact["account"]?.string ?? ""
        if contact["request"] == nil { asking.remove(name) } else { asking.insert(name) }
    }

    private func expired(_ key: String) {
        if case .some(.some) = certain[key] { certain[key] = .some(.some(-1)) }
    }

    private func learn(_ event: JSON) {
        let key = "\(event["type"]?.integer ?? 0)/\(event["publisher"]?.string ?? "")"
        let seq = event["seq"]?.integer ?? -1
        let before = seqs[key] ?? 0
        let isState = event["cause"] == "sync"
        if isState ? seq < before : seq <= before {
            violations.append("\(key): \(event["cause"]?.text ?? "") \(seq) after \(before)")
        }
        seqs[key] = seq
        view[key] = event
        current.insert(key)
        checkSight(key, event, isState: isState)
    }

    /// After it was told that it does not see a publisher any more, nothing of it is said until a
    /// state is, or until it is told that it sees it again.
    ///
    /// What a state says does not matter: to a client that fell behind, one without a status
    /// takes the place of `shown`. `checkView` finds who is told on after a state of somebody
    /// that it may not see.
    ///
    /// The owner alone knows: the others see what it subscribes to without being told the state.
    private func checkSight(_ key: String, _ event: JSON, isState: Bool) {
        switch event["cause"]?.string {
        case "hidden", "shown":
            if event["publisher"]?.string == account {
                violations.append("\(key): told that it is \(event["cause"]?.text ?? "")")
            }
        default: break
        }
        switch event["cause"]?.string {
        case "hidden":
            meet("hidden")
            unseen.insert(key)
            if !event.isOfUnknown { violations.append("\(key): hidden with \(event.text)") }
        case "shown":
            meet("shown")
            unseen.remove(key)
        default:
            if isState {
                unseen.remove(key)
            } else if isOwner, unseen.contains(key) {
                violations.append("\(key): told \(event.text), which it may not see")
            }
        }
    }
}

extension JSON {
    /// Whether a state says no more than that of an account that is not known.
    var isOfUnknown: Bool {
        self["value"] == 0 && self["status"] == nil && self["lastSeen"] == nil
            && self["online"]?.array?.isEmpty != false
    }
}
