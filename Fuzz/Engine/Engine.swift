// Any bytes as a history: logins, requests, losses, time, commits, failures, crashes.
//
// The owner (`Owner.swift`) keeps the engine's rules of use and checks what comes out; a small
// store (`Rows.swift`) holds what the engine has written. Whenever nothing is under way, the
// engine must know exactly what a restart would find, and each session what is true.

import PresenceCore

/// Lets one history happen.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzEngine(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = Input(start, count: count)
    var settings = Settings().withoutPace
    settings.limits.subscriptionsPerAccountMax = input.pick([7, 3, 200])
    settings.limits.sessionsPerAccountMax = 1 + input.below(4)
    settings.limits.statusesPerAccountMax = 1 + input.below(3)
    settings.limits.statesPerFrameMax = input.pick([1, 2, 100])
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
    return 0
}

extension Owner {
    /// Lets one thing happen.
    func step(_ input: inout Input) {
        switch input.byte() % 32 {
        case 0...3: login(&input)
        case 4: command(.loginAppServer, &input)
        case 5: drop(anyConnection(&input))
        case 6: command(.logout, &input)
        case 7: command(.ping, &input)
        case 8...12: subscribe(&input)
        case 13, 14: unsubscribe(&input)
        case 15...18: publish(&input)
        case 19: command(.clear(account: subject(&input), type: type(&input)), &input)
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
        default: checkInvariants()
        }
    }

    private func name(_ input: inout Input) -> AccountHandle {
        account([UInt8(ascii: "a") + UInt8(input.below(6))])
    }

    private func names(_ input: inout Input) -> [AccountHandle] {
        var names: [[UInt8]] = []
        for _ in 0...input.below(5) {
            let name = [UInt8(ascii: "a") + UInt8(input.below(8))]
            if !names.contains(name) { names.append(name) }
        }
        return names.map(account)
    }

    /// Whom an app server acts for; seldom what a client may name.
    private func subject(_ input: inout Input) -> AccountHandle? {
        input.below(3) == 0 ? name(&input) : nil
    }

    private func type(_ input: inout Input) -> EventType {
        EventType(number: input.pick([1, 1, 100, 65_535]))
    }

    private func anyConnection(_ input: inout Input) -> ConnectionID? {
        let number = input.below(16)
        let open = openConnections
        return open.isEmpty ? nil : open[number % open.count]
    }

    private func command(_ command: Command, _ input: inout Input) {
        guard let connection = anyConnection(&input) else { return }
        give(command, to: connection)
    }

    private func login(_ input: inout Input) {
        let choice = input.byte()
        let login = Login(
            account: name(&input), device: [UInt8(ascii: "x") + choice % 4],
            client: choice & 4 == 0 ? .ios : .web, reach: choice & 8 == 0 ? .connection : .push,
            sync: [.all, .online, .none, .all][Int(choice >> 4) % 4], address: [choice])
        // Mostly on a connection of its own.
        give(.login(login), to: choice & 128 == 0 ? connect() : anyConnection(&input) ?? connect())
    }

    private func subscribe(_ input: inout Input) {
        let choice = input.byte()
        let request = Subscribe(
            account: subject(&input), type: type(&input),
            expirySeconds: [60, 61, 600, 2_592_000][Int(choice) % 4], publishers: names(&input),
            answer: choice & 4 == 0 ? .withStates : .withoutStates)
        command(.subscribe(request), &input)
    }

    private func unsubscribe(_ input: inout Input) {
        let request = Unsubscribe(
            account: subject(&input), type: type(&input),
            publishers: input.below(3) == 0 ? nil : names(&input))
        command(.unsubscribe(request), &input)
    }

    private func publish(_ input: inout Input) {
        let choice = input.byte()
        let request = Publish(
            account: subject(&input), type: type(&input), value: 10_000 + Int32(choice),
            expirySeconds: choice & 1 == 0 ? 60 : 604_800, ext: choice & 2 == 0 ? nil : [choice],
            audience: choice & 4 == 0 ? .onlineOnly : .everybody,
            ownSessions: choice & 8 == 0 ? .told : .notTold)
        command(.publish(request), &input)
    }

    private func kick(_ input: inout Input) {
        let choice = input.byte()
        let device = choice & 1 == 0 ? nil : [UInt8(ascii: "x") + choice >> 4 % 4]
        command(.kick(Kick(account: name(&input), device: device, reason: nil)), &input)
    }

    private func ask(_ input: inout Input) {
        let cursor = input.below(2) == 0 ? nil : UInt64(input.byte()) << input.below(57)
        let entriesMax = 1 + input.below(4)
        switch input.byte() % 5 {
        case 0:
            let accounts = [QueriedAccount.unknown(name: [1])] + names(&input).map { .known($0) }
            command(.query(type: type(&input), accounts: accounts), &input)
        case 1:
            let request = ListSubscribers(
                publisher: subject(&input), type: type(&input), cursor: cursor,
                entriesMax: entriesMax)
            command(.subscribers(request), &input)
        case 2: command(.sessions(account: subject(&input)), &input)
        case 3: command(.stats, &input)
        default:
            let request = ListSubscriptions(
                account: subject(&input), type: input.below(2) == 0 ? nil : type(&input),
                publishers: input.below(2) == 0 ? nil : names(&input), cursor: cursor,
                entriesMax: entriesMax)
            command(.subscriptions(request), &input)
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
