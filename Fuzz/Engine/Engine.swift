// Any bytes as a history: logins, requests, losses, time, commits, failures, crashes.
//
// The owner (`Owner.swift`) keeps the engine's rules of use and checks what comes out; a small
// store (`Rows.swift`) holds what the engine has written. Whenever nothing is under way, the
// engine must know exactly what a restart would find, and each session what is true.

import PresenceCore

/// Lets one history happen.
func fuzzEngine(_ bytes: [UInt8]) {
    var input = Input(bytes)
    var settings = Settings().withoutPace
    settings.limits.subscriptionsPerAccountMax = input.pick([7, 3, 200])
    settings.limits.sessionsPerAccountMax = 1 + input.below(4)
    settings.limits.statusesPerAccountMax = 1 + input.below(3)
    settings.limits.statesPerFrameMax = input.pick([1, 2, 100])
    settings.limits.contactsPerAccountMax = input.pick([1_000, 3])
    settings.limits.requestsPerAccountMax = input.pick([200, 2])
    settings.limits.messagesPerAccountMax = 8
    settings.limits.messagesPerSenderMax = 12
    settings.visibility = input.pick([.open, .open, .approved, .hidden])
    settings.disconnectGraceSeconds = input.pick([5, 0, 20])
    settings.restartGraceSeconds = input.pick([30, 0, 5])
    settings.heartbeatSeconds = input.pick([30, 300, 5])
    settings.pushReachable = input.pick([.online, .offline])
    settings.pushReachableSeconds = input.pick([600, 1])
    settings.subscribersPerSlice = input.pick([1, 2, 1_000])
    let owner = Owner(settings, storeWaits: input.below(2) == 0)
    var steps = 0
    while !input.isEmpty, steps < 400 {
        owner.step(&input)
        steps += 1
    }
    owner.quiesce()
}

extension Owner {
    /// Lets one thing happen.
    func step(_ input: inout Input) {
        // Most inputs of the corpus are older than the commands from 32 on, and those from 40 on.
        let choice = input.byte()
        switch choice < 160 ? choice % 32 : choice < 224 ? 32 + choice % 8 : 40 + choice % 8 {
        case 0...3: login(&input)
        case 4: logInAppServer(&input)
        case 5: drop(anyConnection(&input))
        case 6: command(&input) { _, _ in .logout }
        case 7: command(&input) { _, _ in .ping }
        case 8...12: subscribe(&input)
        case 13, 14: unsubscribe(&input)
        case 15...18: publish(&input)
        case 19: clear(&input)
        case 20: ask(&input)
        case 21: kick(&input)
        case 22: pass(milliseconds: UInt64(input.byte()))
        case 23: pass(milliseconds: UInt64(input.byte()) * 1_000)
        case 24: pass(milliseconds: UInt64(input.byte()) * 1_000_000)
        case 25: settle(.committed)
        case 26: settle(.failed)
        case 27: continueList(of: anyConnection(&input))
        case 28: continueFanOuts()
        case 29: missed(&input)
        case 30: rest(&input)
        case 32...36: relate(&input)
        case 37: setVisibility(&input)
        case 38: setAvailability(&input)
        case 40...42: send(&input)
        case 43, 44: take(&input)
        case 45: read(.committed)
        case 46: read(.failed)
        case 47: discard(&input)
        default: drainedOrSilent(&input)
        }
    }

    private func rest(_ input: inout Input) {
        switch input.byte() % 8 {
        case 0: crash(keepingWrites: Int(input.byte()))
        case 1: wallJump += Int64(input.byte()) * 3_600_000 * (input.below(2) == 0 ? 1 : -1)
        case 2: listsWait.toggle()
        case 3: fanOutsWait.toggle()
        case 4: quiesce()
        case 5: storeWaits.toggle()
        case 6: setDevice(&input)
        default: checkInvariants()
        }
    }

    private func name(_ input: inout Input) -> [UInt8] {
        [UInt8(ascii: "a") + UInt8(input.below(6))]
    }

    private func names(_ input: inout Input) -> [[UInt8]] {
        var names: [[UInt8]] = []
        for _ in 0...input.below(5) {
            let name = [UInt8(ascii: "a") + UInt8(input.below(8))]
            if !names.contains(name) { names.append(name) }
        }
        return names
    }

    /// Whom an app server acts for; seldom what a client may name.
    private func subject(_ input: inout Input, _ texts: inout RequestTexts) -> ByteRange? {
        input.below(3) == 0 ? texts.add(name(&input)) : nil
    }

    private func type(_ input: inout Input) -> EventType {
        EventType(number: input.pick([1, 1, 100, 65_535]))
    }

    private func anyConnection(_ input: inout Input) -> ConnectionID? {
        let number = input.below(16)
        let open = openConnections
        return open.isEmpty ? nil : open[number % open.count]
    }

    /// Gives a command that `make` makes, with its names and texts.
    private func command(
        _ input: inout Input, _ make: (inout Input, inout RequestTexts) -> Command
    ) {
        var texts = RequestTexts()
        let command = make(&input, &texts)
        guard let connection = anyConnection(&input) else { return }
        give(command, texts.ofLast, to: connection)
    }

    private func logInAppServer(_ input: inout Input) {
        guard let connection = anyConnection(&input) else { return }
        logInAppServer(on: connection)
    }

    private func login(_ input: inout Input) {
        let choice = input.byte()
        let login = Login(
            account: name(&input), device: [UInt8(ascii: "x") + choice % 4],
            client: choice & 4 == 0 ? .ios : .web, reach: choice & 8 == 0 ? .connection : .push,
            sync: [.all, .online, .none, .all][Int(choice >> 4) % 4],
            hears: input.below(2) == 0 ? .all : .timed, address: [choice],
            messages: choice & 64 != 0 ? .off : choice & 16 == 0 ? .on : .withCopies)
        // Mostly on a connection of its own.
        logIn(login, on: choice & 128 == 0 ? connect() : anyConnection(&input) ?? connect())
    }

    private func subscribe(_ input: inout Input) {
        let choice = input.byte()
        command(&input) { input, texts in
            .subscribe(
                account: subject(&input, &texts),
                Subscribe(
                    type: type(&input),
                    expirySeconds: [60, 61, 600, 2_592_000][Int(choice) % 4],
                    publishers: texts.add(names: names(&input)),
                    answer: choice & 4 == 0 ? .withStates : .withoutStates))
        }
    }

    private func unsubscribe(_ input: inout Input) {
        command(&input) { input, texts in
            .unsubscribe(
                account: subject(&input, &texts),
                Unsubscribe(
                    type: type(&input),
                    publishers: input.below(3) == 0 ? nil : texts.add(names: names(&input))))
        }
    }

    private func publish(_ input: inout Input) {
        let choice = input.byte()
        command(&input) { input, texts in
            .publish(
                account: subject(&input, &texts),
                Publish(
                    type: type(&input), value: 10_000 + Int32(choice),
                    expirySeconds: choice & 1 == 0 ? 60 : 604_800,
                    ext: choice & 2 == 0 ? nil : texts.add([choice]),
                    audience: choice & 4 == 0 ? .onlineOnly : .everybody,
                    ownSessions: choice & 8 == 0 ? .included : .excluded))
        }
    }

    private func clear(_ input: inout Input) {
        command(&input) { input, texts in
            .clear(account: subject(&input, &texts), type(&input))
        }
    }

    private func relate(_ input: inout Input) {
        let choice = input.byte()
        command(&input) { input, texts in
            .relate(
                account: subject(&input, &texts), contact: texts.add(name(&input)), action(choice))
        }
    }

    private func action(_ choice: UInt8) -> ContactAction {
        let text = choice & 128 == 0 ? nil : [choice]
        return switch choice % 8 {
        case 0...2: .say(.subscribe, text: text)
        case 3: .say(.unsubscribe, text: nil)
        case 4, 5: .say(.subscribed, text: nil)
        case 6: choice & 64 == 0 ? .say(.unsubscribed, text: nil) : .remove
        default:
            .describe(
                ContactLabel(name: text ?? [], groups: choice & 64 == 0 ? [] : [[67]]) ?? .none)
        }
    }

    private func setVisibility(_ input: inout Input) {
        command(&input) { input, texts in
            .setVisibility(
                account: subject(&input, &texts), input.pick([.open, .approved, .hidden, nil]))
        }
    }

    private func setAvailability(_ input: inout Input) {
        let choice = input.byte()
        command(&input) { _, _ in
            .setAvailability(
                Availability(
                    show: Show(rawValue: choice % 5) ?? .available,
                    priority: Int8(bitPattern: choice & 24),
                    text: choice & 64 == 0 ? nil : [choice]))
        }
    }

    private func send(_ input: inout Input) {
        let choice = input.byte()
        command(&input) { input, texts in
            let names = choice & 1 == 0 ? [name(&input)] : names(&input)
            return .send(
                account: subject(&input, &texts),
                Send(
                    to: recipients(names, choice, &texts),
                    body: texts.add(
                        [UInt8](repeating: choice, count: choice & 4 == 0 ? 1 : 30_000)),
                    expirySeconds: choice & 8 == 0 ? 60 : 2_592_000))
        }
    }

    /// Accounts, a device of one, or devices by the labels that `setDevice` gives them.
    private func recipients(
        _ names: [[UInt8]], _ choice: UInt8, _ texts: inout RequestTexts
    ) -> Recipients {
        let label = [UInt8(ascii: "A") + choice % 4]
        if choice & 16 != 0 {
            guard choice & 32 != 0 else { return .aliases(texts.add(names: [label, [66]])) }
            return .tags(
                .init(
                    any: choice & 64 == 0 ? texts.add(names: [label, [68]]) : nil,
                    all: choice & 192 != 128 ? texts.add(names: [[67]]) : nil,
                    not: choice & 128 == 0 ? texts.add(names: [label]) : nil))
        }
        let list = texts.add(names: names)
        return names.count == 1 && choice & 2 != 0
            ? .device(texts.add([UInt8(ascii: "x") + choice % 4]), of: list) : .accounts(list)
    }

    /// A connection takes what it was sent last, or what it was not sent.
    /// Discards what waits for an account, or of a sender, or both.
    private func discard(_ input: inout Input) {
        let choice = input.byte() % 3
        command(&input) { input, texts in
            let account = texts.add(name(&input))
            guard choice > 0 else { return .discard(account: account, from: nil) }
            return .discard(
                account: choice == 1 ? account : nil, from: texts.add(name(&input)))
        }
    }

    private func take(_ input: inout Input) {
        let other = MessageID(number: UInt64(input.byte()))
        guard let connection = anyConnection(&input) else { return }
        give(.take(sent[connection] ?? other), RequestTexts().ofLast, to: connection)
    }

    /// Sets some of what a device has, or is to have no more.
    private func setDevice(_ input: inout Input) {
        let choice = input.byte()
        let label = [UInt8(ascii: "A") + choice % 4]
        command(&input) { input, texts in
            .setDevice(
                account: subject(&input, &texts),
                SetDevice(
                    device: choice & 128 == 0 ? texts.add([UInt8(ascii: "x") + choice % 4]) : nil,
                    alias: choice & 4 == 0 ? texts.add(choice & 8 == 0 ? label : []) : nil,
                    tags: choice & 16 == 0
                        ? texts.add(names: choice & 32 == 0 ? [label, [67], label] : []) : nil,
                    pushAddress: choice & 64 == 0 ? texts.add(choice & 8 == 0 ? [49] : []) : nil))
        }
    }

    private func kick(_ input: inout Input) {
        let choice = input.byte()
        let device = [UInt8(ascii: "x") + choice >> 4 % 4]
        command(&input) { input, texts in
            .kick(
                Kick(
                    account: texts.add(name(&input)),
                    device: choice & 1 == 0 ? nil : texts.add(device)))
        }
    }

    private func ask(_ input: inout Input) {
        let cursor = input.below(2) == 0 ? nil : UInt64(input.byte()) << input.below(57)
        let entriesMax = 1 + input.below(4)
        let choice = input.byte() % 6
        command(&input) { input, texts in
            switch choice {
            case 0: .query(type(&input), accounts: texts.add(names: [[1]] + names(&input)))
            case 1:
                .subscribers(
                    ListSubscribers(
                        type: type(&input), publisher: texts.add(name(&input)), cursor: cursor,
                        entriesMax: entriesMax))
            case 2: .sessions(account: texts.add(name(&input)))
            case 3: .ping
            case 4:
                .contacts(
                    account: subject(&input, &texts),
                    ListContacts(cursor: cursor, entriesMax: entriesMax))
            default:
                .subscriptions(
                    account: subject(&input, &texts),
                    ListSubscriptions(
                        type: input.below(2) == 0 ? nil : type(&input),
                        publishers: input.below(2) == 0 ? nil : texts.add(names: names(&input)),
                        cursor: cursor, entriesMax: entriesMax))
            }
        }
    }

    private func drainedOrSilent(_ input: inout Input) {
        guard let connection = anyConnection(&input) else { return }
        switch input.byte() % 4 {
        case 0: fallSilent(connection, heardMillisecondsAgo: UInt64(input.byte()) * 500)
        default: drained(connection)
        }
    }

    private func missed(_ input: inout Input) {
        guard let connection = anyConnection(&input), topicsSeen > 0 else { return }
        for _ in 0..<input.below(4) {
            missed(
                TopicHandle(index: UInt32(input.below(min(topicsSeen, 256)))), by: connection)
        }
    }
}
