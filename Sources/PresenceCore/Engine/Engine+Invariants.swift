import Containers

extension Engine {
    /// Traps unless the tables agree with each other. O(everything); for tests.
    public func checkInvariants() {
        index.checkInvariants()
        names.checkInvariants()
        wheel.checkInvariants()
        var sessionCount = 0
        var online = 0
        for number in 0..<names.handleUpperBound where names.contains(number) {
            let inAccount = checkSessions(of: number)
            let hiddenHere = checkHidden(of: AccountHandle(index: number))
            precondition(
                inAccount + hiddenHere == Int(accounts[Int(number)].sessionCount), "session count")
            sessionCount += inAccount + hiddenHere
            online += inAccount > 0 ? 1 : 0
            checkTopics(of: AccountHandle(index: number))
        }
        statuses.checkInvariants(
            inForce: (0..<topics.upperBound).map { topics[UInt32($0)].status }
                .filter { $0 != none })
        checkHolds()
        checkMessages()
        checkDirected()
        devices.checkInvariants()
        for number in devices.accounts.keys {
            precondition(names.contains(number), "forgotten, and its devices are not")
        }
        for (session, conflation) in conflations.entries {
            precondition(sessions[session].phase == .connected, "behind and not shown")
            precondition(links[Int(session)].cursor == .start, "behind and sent events")
            conflation.checkInvariants()
        }
        relations.checkInvariants { account, contact in
            topic(.presence, of: contact).map {
                index.leases(on: $0, by: account).contains(.approved)
            } ?? false
        }
        precondition(sessionCount == sessions.count, "miscounted sessions")
        let inPhases = SessionEntry.Connectedness.allCases.reduce(0) { $0 + tallies.sessions($1) }
        precondition(inPhases == sessionCount, "miscounted phases")
        precondition(
            tallies.sessions(.connected) + tallies.sessions(.hidden) == stats.sessionsConnected,
            "miscounted phases")
        precondition(
            sessions.elements.isEmpty || resourceCount >= 0 && resourceCount <= sessions.count,
            "miscounted resources")
        precondition(online == stats.accountsOnline, "miscounted accounts online")
    }

    /// Every hold is that of a change that waits.
    private func checkHolds() {
        var counts: [AccountHandle: UInt32] = [:]
        for held in inFlight.held + deferred.held + sendsInFlight.all.map(\.accounts) {
            for account in [held.account] + held.others { counts[account, default: 0] += 1 }
        }
        for number in accounts.indices {
            let held = counts[AccountHandle(index: UInt32(number)), default: 0]
            precondition(accounts[number].holdCount == held, "an account that nothing holds")
            precondition(held == 0 || names.contains(UInt32(number)), "forgotten while held")
        }
    }

    /// What waits is counted, and read by sessions that are connected.
    private func checkMessages() {
        inboxes.checkInvariants(sendsInFlight.all)
        undelivered.checkInvariants(
            waiting: inboxes.boxes.values.reduce(0) { $0 + $1.handedOverCount })
        for number in inboxes.boxes.keys {
            precondition(names.contains(number), "forgotten, and messages wait for it")
        }
        for session in readers.keys + copyReaders.keys {
            precondition(connectionID(of: session) != nil, "a reader without a connection")
        }
        owed.checkInvariants { readers[$0] != nil && sessions[$0].account == $1 }
    }

    /// Only sessions of XMPP clients have presented themselves to addresses.
    private func checkDirected() {
        for (session, count) in directed.counts {
            precondition(
                (1...Limits.directedAddressesMax).contains(count), "addresses beyond the limit")
            let account = AccountHandle(index: sessions[session].account)
            precondition(
                sessions[session].client == .xmpp && names.contains(account.index)
                    && allSessions(of: account).contains(session), "addresses of no session")
        }
    }

    private func checkSessions(of number: UInt32) -> Int {
        let shown = shownSessions(of: AccountHandle(index: number))
        for session in shown {
            let record = sessions[session]
            let link = links[Int(session)]
            precondition(record.account == number, "a session of another account")
            precondition(
                record.phase.hasConnection == (link.connection != none), "phase and connection")
            precondition(
                record.phase.hasDeadline == (record.timer != .none), "phase and deadline")
            precondition(record.phase != .hidden, "a hidden session that others see")
            if link.connection != none {
                guard case .client(session) = connections[Int(link.connection)].peer else {
                    preconditionFailure("a connection that does not know its session")
                }
            }
        }
        return shown.count
    }

    private func checkHidden(of account: AccountHandle) -> Int {
        let sessions = hiddenSessions(of: account)
        for session in sessions {
            let record = self.sessions[session]
            precondition(record.account == account.index, "a session of another account")
            precondition(record.phase == .hidden, "others do not see it")
            precondition(links[Int(session)].connection != none, "hidden without a connection")
            precondition(record.timer == .none && record.availability == none, "hidden")
        }
        return sessions.count
    }

    private func checkTopics(of account: AccountHandle) {
        let record = accounts[Int(account.index)]
        if record.presenceTopic != none {
            precondition(topics[record.presenceTopic].account == account.index, "topic's account")
        }
        _ = topics.checkChain(record.customTopics, of: account.index)
        precondition(
            (index.timedCount(of: account) > 0) == (record.expiryTimer != .none),
            "subscriptions and their deadline")
        guard index.count(of: account) > 0 else { return }
        for subscription in index.subscriptions[Int(account.index)] {
            precondition(
                record.expiryTimer == .none || record.expiryDeadline <= subscription.deadline,
                "a deadline after an expiry")
            precondition(names.contains(topics[subscription.topic].account), "publisher unknown")
        }
    }
}
