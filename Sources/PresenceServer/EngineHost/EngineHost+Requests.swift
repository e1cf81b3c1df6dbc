import Logging
import PresenceCore
import PresenceWire

// What connection loops, other threads and loops in process have handed over.

extension EngineHost {
    /// Takes in what a connection loop has, in order, from the item with the index `first` on and
    /// until its output costs as much. Returns the index to continue with; nil: the end was
    /// reached.
    @discardableResult
    mutating func take(
        _ inbound: borrowing Inbound, from first: Int = 0, costMax: Int = .max,
        at now: Moment
    ) -> Int? {
        for index in first..<inbound.items.count {
            take(inbound.items[index], inbound.texts, at: now)
            sort(at: now)
            if index + 1 < inbound.items.count, output.cost > costMax {
                return index + 1
            }
        }
        return nil
    }

    /// Takes in what is in the mailbox besides the outcomes of writes.
    mutating func take(_ mail: Mailbox.Contents, at now: Moment) {
        report(mail.tokens, at: now)
        report(mail.reads, at: now)
        report(mail.passwords, at: now)
        for box in mail.boxes { add(box) }
        if var configuration = mail.configuration {
            configuration.admission.fillInFromMachine()
            apply(configuration, at: now)
        }
        if mail.isToStop { beginStopping() }
    }

    /// Takes in what loops in process have handed over.
    mutating func takeInProcess(at now: Moment) {
        for box in boxesInProcess {
            for inbound in box.takeInbound() { take(inbound, at: now) }
        }
    }

    private mutating func take(
        _ item: InboundItem, _ texts: RequestTexts, at now: Moment
    ) {
        switch item {
        case .request(let request, let origin):
            if request.connection.isInProcess { count(request.method.name) }
            attempt(request.connection) { host throws(Rejection) in
                try host.perform(request, from: origin, texts[request.texts], at: now)
            }
        case .authenticate(let login):
            attempt(login.connection) { host throws(Rejection) in
                try host.authenticate(login, at: now)
            }
        case .changePassword(let task):
            attempt(task.connection) { host throws(Rejection) in
                try host.changePassword(task, at: now)
            }
        case .bind(let connection, let login):
            attempt(connection) { host throws(Rejection) in
                try host.bind(login, of: connection, at: now)
            }
        case .card(let connection, let request):
            attempt(connection) { host throws(Rejection) in
                try host.handle(request, of: connection, at: now)
            }
        case .relay(let stanza):
            attempt(stanza.connection) { host throws(Rejection) in
                try host.relay(stanza, at: now)
            }
        case .copy(let message): copy(message)
        case .invalid(let connection, let method, let rejection):
            memory.noteActivity()
            if connection.isInProcess { counters.requests += 1 }
            reject(connection, engine.rejection(of: method, from: connection) ?? rejection)
        case .closed:
            memory.noteActivity()
        case .missed(let connection, let topic, let seq):
            engine.missed(topic, seq: seq, by: connection, at: now.wall)
        case .missedCopies(let connection, let count):
            engine.missedCopies(count, by: connection)
        case .drained(let connection):
            drained(connection, at: now)
        case .lost(let lost):
            forget(lost, at: now)
        case .measured(let report, let question):
            measured(report, for: question, at: now)
        case .listening(let error):
            listening(error, at: now)
        case .finished:
            loopFinished()
        }
    }

    /// Carries out what a connection waits for, or rejects it.
    private mutating func attempt(
        _ connection: ConnectionID, _ body: (inout Self) throws(Rejection) -> Void
    ) {
        memory.noteActivity()
        do throws(Rejection) {
            try body(&self)
        } catch {
            reject(connection, error)
        }
    }

    /// A connection has ended.
    private mutating func forget(_ lost: LostConnection, at now: Moment) {
        feed?.end(lost.connection, at: now.mono)
        undelivered.end(lost.connection)
        tokens.forget(lost.connection)
        passwords.forget(lost.connection)
        questions.forget(lost.connection)
        messageReads.remove(lost.connection)
        cards.remove(lost.connection)
        output.stanzaReceivers.remove(lost.connection.slot)
        relayed.remove(lost.connection.slot)
        relayedRequests.remove(lost.connection.slot)
        guard phase == .serving || phase == .stopping else { return }
        engine.connectionLost(
            lost.connection, lost.end, unsentBytes: lost.unsentBytes,
            lastHeard: lost.lastHeard, at: now, into: &output.shared.effects)
    }

    /// Counts a request of a caller in process. Those of connections are counted by their loops.
    private mutating func count(_ method: MethodName) {
        counters.requests += 1
        counters.requestsByMethod.count(method)
    }

    /// Rejects the request that a connection waits for.
    mutating func reject(_ connection: ConnectionID, _ rejection: Rejection) {
        if connection.isInProcess { counters.rejections.count(rejection.reason) }
        output.append(.reject(rejection), for: connection)
    }

    private mutating func drained(_ connection: ConnectionID, at now: Moment) {
        if let place = feed?.place(of: connection) {
            feed?.drained(place)
            sendFeed(toReader: place, at: now)
        } else if let place = undelivered.place(of: connection) {
            undelivered.drained(place)
            readUndelivered(toReader: place, at: now)
        } else {
            engine.drained(connection, at: now, into: &output.shared.effects)
        }
    }

    private mutating func perform(
        _ request: ClientRequest, from origin: ConnectionOrigin?, _ texts: TextSource,
        at now: Moment
    ) throws(Rejection) {
        let connection = request.connection
        switch request.method {
        case .command(let command):
            let command = try engine.authorise(command, texts, from: connection)
            try checkServing()
            try handle(command, texts, at: now)
        case .login(let login):
            try authorise(request)
            guard let origin else { preconditionFailure("a login without its origin") }
            output.stanzaReceivers.remove(connection.slot)
            try logIn(login, texts, by: connection, from: origin, at: now)
        case .refresh(let refresh):
            try authorise(request)
            guard let origin else { preconditionFailure("a token without its origin") }
            try verify(
                texts.bytes(refresh.token), for: .refresh, of: connection, from: origin, at: now)
        case .question(let question):
            try authorise(request)
            questions.append(
                Question(connection: connection, subject: Question.Subject(question, texts)))
        case .password(let change):
            try authorise(request)
            try changePassword(change, texts, by: connection, at: now)
        case .feed(let beginning):
            try authorise(request)
            try readFeed(from: beginning, by: connection, at: now)
        case .undelivered(let cursor):
            try authorise(request)
            try readUndelivered(from: cursor, by: connection, at: now)
        }
    }

    private mutating func handle(
        _ command: AuthorisedCommand, _ texts: TextSource, at now: Moment
    ) throws(Rejection) {
        try checkRoom(for: command.command.name, at: now)
        try checkRequestPace(command, texts, at: now)
        engine.handle(command, texts, at: now, into: &output.shared.effects)
    }

    /// Rejects a request to see an account that strangers ask too often. App servers are not
    /// limited.
    private mutating func checkRequestPace(
        _ request: AuthorisedCommand, _ texts: TextSource, at now: Moment
    ) throws(Rejection) {
        guard case .relate(_, let name, .say(.subscribe, _)) = request.command,
            configuration.engine.publishPace != nil
        else { return }
        let contact = texts.bytes(name)
        guard let asker = engine.stranger(to: contact, request.connection),
            let wait = requestPaces.take(of: contact, for: asker, .ofRequests, at: now.mono)
        else { return }
        var rejection = Rejection.tooOften(waitMilliseconds: wait)
        rejection.field = .contact
        throw rejection
    }

    /// Rejects requests while the service stops.
    mutating func checkServing() throws(Rejection) {
        guard phase == .serving else {
            throw transientRejection(.shuttingDown)
        }
    }

    /// Rejects a request without permission before anything else is done about it, and then one
    /// that comes while the service stops.
    private mutating func authorise(_ request: ClientRequest) throws(Rejection) {
        try engine.authorise(request.method.name, from: request.connection)
        try checkServing()
    }
}

extension Pace {
    /// Of requests to see an account: strangers must not flood it by asking and withdrawing. With
    /// at most 5 KB each, 10 KB a second.
    static let ofRequests = Pace(perSecond: 2, burst: 100)
}
