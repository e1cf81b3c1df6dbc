// Cards (vCards): the engine says whose a client may read; contents go to the store and come from
// it, and are not kept.

import PresenceCore
import PresenceStore

extension EngineHost {
    /// Reads or replaces a card for an XMPP client; the answer follows.
    mutating func handle(
        _ request: CardRequest, of connection: ConnectionID, at now: Moment
    ) throws(Rejection) {
        try engine.authorise(.setAvailability, from: connection)
        try checkServing()
        switch request {
        case .read(let account): try readCard(of: account, for: connection, at: now)
        case .replace(let content): try replaceCard(content, of: connection, at: now)
        }
    }

    private mutating func readCard(
        of account: [UInt8], for connection: ConnectionID, at now: Moment
    ) throws(Rejection) {
        let reader = try engine.readerOfCard(from: connection)
        if configuration.engine.publishPace != nil,
            let wait = cardPaces.take(for: reader, Cards.readPace, at: now.mono)
        {
            throw .tooOften(waitMilliseconds: wait)
        }
        // The sizes are known, so the time that it takes does not show which of both it is.
        guard try engine.mayReadCard(of: account, from: connection), cards.has(account) else {
            return output.append(.card(.none), for: connection)
        }
        cards.read(of: account, for: connection)
        beginCardReads()
    }

    private mutating func beginCardReads() {
        while let (number, account) = cards.nextRead() {
            store.submit(.card(account: account), token: number)
        }
    }

    /// A card has been read, or could not be.
    mutating func reportCard(_ content: ReadOutcome.Content<[UInt8]?>, of number: UInt64) {
        defer { beginCardReads() }
        switch content {
        case .success(let content):
            let connection = cards.endRead(number, wasFound: content != nil)
            // A card for each connection would wait for a loop that is stalled.
            guard !stalledLoops.contains(loops.loop(of: connection.slot)) else {
                return reject(connection, transientRejection(.overloaded))
            }
            output.append(.card(content.map { .content($0) } ?? .none), for: connection)
        case .failure(let error):
            noteStoreFailure(.read, error)
            reject(
                cards.endRead(number, wasFound: false), transientRejection(.storeUnavailable))
        }
    }

    private mutating func replaceCard(
        _ content: [UInt8], of connection: ConnectionID, at now: Moment
    ) throws(Rejection) {
        try checkRoom(for: .setVisibility, at: now)
        let account = try engine.ownerOfNewCard(from: connection, at: now)
        let bytesInAllMax = configuration.admission.cardBytesInAllMax
        switch cards.lack(ofRoomFor: content.count, of: account, bytesInAllMax: bytesInAllMax) {
        case .inAll: return output.append(.card(.full), for: connection)
        case .inProgress: throw transientRejection(.overloaded)
        case nil: break
        }
        let number = cards.beginWrite(of: account, bytes: content.count, for: connection)
        let write: Write =
            content.isEmpty
            ? .removeCard(account: account)
            : .putCard(
                CardRow(account: account, content: content, updated: now.wall.milliseconds))
        submissions.append(Submission(ticket: StoreTicket(number, of: .card), write: write))
    }

    /// A card is stored, or cannot be.
    mutating func reportCard(_ number: UInt64, _ result: Outcome.Result) {
        switch result {
        case .committed:
            output.append(.card(.replaced), for: cards.endWrite(number, isStored: true))
        case .failed(let error), .reserved(let error):
            noteStoreFailure(.write, error)
            let connection = cards.endWrite(number, isStored: false)
            reject(connection, transientRejection(.storeUnavailable))
        }
    }

    /// Removes the card of an account that is forgotten.
    mutating func forgetCard(of account: [UInt8]) {
        guard cards.forget(account) else { return }
        submissions.append(Submission(write: .removeCard(account: account)))
    }

    /// Removes the cards of accounts that are not used.
    mutating func forgetAbandonedCards() {
        for account in cards.takeAbandoned() { forgetCard(of: account) }
    }
}
