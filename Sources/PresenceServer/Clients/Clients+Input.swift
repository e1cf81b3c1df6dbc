import Connections
import Containers
import EventLoop
import PresenceCore
import PresenceWire

// Input, whatever the protocol: who may be read from, and what a message costs.

/// What has become of the next part of a client's input.
enum InputStep {
    /// There is no whole message: more has to arrive.
    case needMore
    /// A part of this length was processed. Between the fragments of a message, others may come:
    /// they do not extend its time.
    case processed(byteCount: Int, isInMessage: Bool = false)
    /// Nothing follows: the connection ends.
    case ended
}

extension Clients {
    /// Whether the next message may be read: not while a request waits for its response, nor while
    /// the client does not read its responses or is throttled.
    func isListening(_ slot: Int) -> Bool {
        !protocols.span[slot].isWaiting && table.hasOutboxRoom(slot) && !table.isThrottled(slot)
    }

    /// Bytes that a client has sent and that were not carried out.
    func bytesBuffered(_ slot: Int) -> Int { protocols.span[slot].bytesBuffered }

    /// Keeps what a client has sent, since it is not carried out now.
    mutating func keep(_ chunk: RawSpan, from offset: inout Int, of slot: Int) {
        protocols[slot].keep(chunk, from: &offset)
    }

    /// Whether what a client has sent can be kept as it is.
    func canWait(_ slot: Int, _ chunk: RawSpan, _ offset: Int) -> Bool {
        protocols.span[slot].canPause(before: chunk, at: offset)
    }

    // MARK: Turns

    /// Whether a client may have its next message carried out in this turn.
    func hasTurn(_ slot: Int, _ chunk: RawSpan, _ offset: Int) -> Bool {
        if budget.hasRoom { return true }
        let bytesWaiting = bytesBuffered(slot) + chunk.byteCount - offset
        return budget.hasRoomForLight && isLight(slot, bytesWaiting: bytesWaiting)
            || !canWait(slot, chunk, offset)
    }

    /// Whether a client has cost little: it goes before those that have cost much.
    func isLight(_ slot: Int, bytesWaiting: Int) -> Bool {
        let missing = pace(of: slot).map { table.tokensMissing(slot, $0, at: budget.began) } ?? 0
        return budget.isLight(bytesWaiting: bytesWaiting, tokensMissing: missing)
    }

    /// Leaves what a client has sent to a later turn, `bytesAhead` of it in the chunk.
    mutating func postpone(_ slot: Int, bytesAhead: Int = 0) {
        let bytesWaiting = bytesBuffered(slot) + bytesAhead
        table.postpone(slot, isLight: isLight(slot, bytesWaiting: bytesWaiting))
    }

    /// Resumes reading from a client that has read its responses.
    mutating func resumeIfPaused(_ slot: Int) {
        guard table.phase(of: slot).isOpen, !protocols.span[slot].isWaiting else { return }
        if table.isPaused(slot) || table.hasInputEnded(slot) || bytesBuffered(slot) > 0 {
            postpone(slot)
        }
    }

    /// Charges a client for a message: its rate limit for what it has sent and for the work of the
    /// engine, the turn also for the answer, if its outbox had `outboxBytes` before.
    mutating func charge(
        _ slot: Int, _ byteCount: Int, _ work: Int, since outboxBytes: Int, at now: Moment
    ) {
        let weight = TurnBudget.weight(byteCount: byteCount)
        let answerBytes = table.outboxBytes(of: slot) - outboxBytes
        budget.spend(weight + max(0, answerBytes >> 10))
        spend(weight + work, of: slot, at: now.mono)
    }

    /// Charges the rate limit of a client for an answer, if its outbox had `outboxBytes` before: by
    /// its size, as a message. The first KiB is part of the request.
    mutating func chargeAnswer(_ slot: Int, since outboxBytes: Int) {
        let weight = (table.outboxBytes(of: slot) - outboxBytes) >> 10
        guard weight > 0, table.phase(of: slot).isOpen else { return }
        spend(weight, of: slot, at: now().mono)
    }

    private mutating func spend(_ weight: Int, of slot: Int, at now: Mono) {
        guard let pace = pace(of: slot), table.charge(slot, weight, pace, at: now) else { return }
        counters.throttled += 1
    }

    /// The rate limit of a client; nil: none.
    private func pace(of slot: Int) -> Pace? {
        switch table.peer(of: slot) {
        case .client: configuration.admission.requestPace
        case .appServer: configuration.admission.appServerRequestPace
        case .overLimit, .closedAtOnce: nil
        }
    }

    /// The wait of a throttled client is over. (Perhaps that of an earlier connection in the slot;
    /// to check once too often does no harm.)
    mutating func throttleEnded(of slot: Int) {
        table.throttleEnded(slot)
        let now = now().mono
        table.hearWhatWaits(in: slot, patience(of: slot), at: now)
        carryOutPaced(slot)
        resumeIfPaused(slot)
    }

    // MARK: The time of a message

    /// The message that was begun is complete, or not waited for. (Before the login, the deadline
    /// is that of the login.)
    mutating func clearMessageDeadline(of slot: Int) {
        guard table.phase(of: slot) == .serving else { return }
        table.clearDeadline(of: slot)
    }

    /// Sets the timeout for the rest of an incomplete message, or clears it.
    mutating func watchMessage(of slot: Int, isNew: Bool) {
        guard table.phase(of: slot) == .serving else { return }
        watchSize(of: slot)
        guard table.phase(of: slot) == .serving else { return }
        if isNew || !table.hasDeadline(slot) { beginArrival(of: slot) }
        if !protocols.span[slot].isInMessage {
            table.clearDeadline(of: slot)
        } else if isNew || !table.hasDeadline(slot) {
            setDeadline(of: slot, afterSeconds: configuration.connection.frameSeconds)
        }
    }

    /// Notes what a message uses that is incomplete, or waits for a rate limit. If large ones use
    /// too much in all, some are given up.
    mutating func watchSize(of slot: Int) {
        guard table.phase(of: slot).isOpen else { return largeInputs.remove(slot) }
        largeInputs.note(slot, of: inputOwner(slot), bytes: bytesBuffered(slot))
        let bytesMax = number.share(of: configuration.connection.largeInputBytesMax)
        while let next = largeInputs.nextToEnd(bytesMax: bytesMax) {
            counters.largeInputsEnded += 1
            largeInputs.remove(next)
            close(next, .overloaded)
        }
    }

    /// A message is complete, and carried out or kept because of a rate limit.
    mutating func messageEnded(of slot: Int) {
        // Nearly always there is no large one, and nothing of this client waits.
        guard largeInputs.count > 0 || bytesBuffered(slot) > LargeInputs.bytesFree else { return }
        watchSize(of: slot)
    }

    private func inputOwner(_ slot: Int) -> LargeInputs.Owner {
        switch table.peer(of: slot) {
        case .appServer: .appServer
        case .client, .overLimit, .closedAtOnce:
            .client(table.address(of: slot), account: accountHashes[slot])
        }
    }

    // MARK: Its end

    /// Ends the input of a client that sends no more, unless some of it waits: for its turn, for a
    /// response to be read, or for the end of a rate limit.
    mutating func endIfReadUp(_ slot: Int) {
        guard table.hasInputEnded(slot), table.phase(of: slot).isOpen, isListening(slot),
            !table.isResumable(slot)
        else { return }
        inputEnded(of: slot)
    }

    /// The peer has stopped sending: what it asked for last is still answered.
    mutating func inputEnded(of slot: Int) {
        count(.lost, of: slot)
        table.beginEnding(slot)
        setDeadline(of: slot, afterSeconds: configuration.connection.farewellSeconds)
        endIfServed(slot)
    }

    /// Ends a connection whose peer sends no more, once it has been sent the response to its
    /// request and its login list.
    mutating func endIfServed(_ slot: Int) {
        guard table.phase(of: slot) == .ending, !protocols.span[slot].isWaiting,
            !table.list(of: slot).isListing
        else { return }
        // The close frame of a WebSocket is answered with its own code.
        end(slot, .lost, .lost, .whenWritten(code: protocols.span[slot].endCode))
    }
}
