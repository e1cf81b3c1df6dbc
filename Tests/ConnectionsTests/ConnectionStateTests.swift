import Containers
import PresenceCore
import Testing

@testable import Connections

struct ConnectionStateTests {
    @Test func `a connection takes 104 bytes`() {
        #expect(MemoryLayout<Connection>.stride == 104)
    }

    // MARK: Output

    @Test func `an output is added to the list of dirty ones once`() {
        var output = OutputState()
        let firstIsAdded = output.markDirty()
        #expect(firstIsAdded)
        let secondIsAdded = output.markDirty()
        #expect(!secondIsAdded)
        output.unmarkDirty()
        let thirdIsAdded = output.markDirty()
        #expect(thirdIsAdded)
    }

    @Test func `bytes held back count until they are handed to the socket`() {
        var output = OutputState()
        output.blocked = BlockedWrite(bytesPending: 100, slowPlace: 0)
        output.holdBack(3)
        #expect(output.bytesUnsent == 100)
        output.blocked = nil
        #expect(output.bytesUnsent == 0)
        #expect(output.bytesHeldBack == 3)
        let firstReleased = output.releaseHeldBack()
        #expect(firstReleased == 3)
        let secondReleased = output.releaseHeldBack()
        #expect(secondReleased == 0)
    }

    @Test func `a blocked write has one deadline, which is set again when it has fired`() {
        var deadlines = TimingWheel(now: 0)
        var write = BlockedWrite(bytesPending: 1, slowPlace: 0)
        write.watch(5, until: .init(milliseconds: 10), in: &deadlines)
        write.watch(5, until: .init(milliseconds: 20), in: &deadlines)
        let due = deadlines.popDue(now: 10)
        #expect(due?.payload == ConnectionDeadline.progress.payload(5))
        write.fired()
        write.watch(5, until: .init(milliseconds: 20), in: &deadlines)
        #expect(deadlines.count == 1)
        write.unwatch(in: &deadlines)
        #expect(deadlines.count == 0)
    }

    // MARK: Input

    @Test func `an input that was paused is caught up with before it is current`() {
        var input = InputState()
        let firstResumed = input.resume()
        #expect(!firstResumed)
        #expect(input.reading == .current)
        input.pause()
        #expect(input.isPaused)
        input.caughtUp()
        #expect(input.isPaused)
        let secondResumed = input.resume()
        #expect(secondResumed)
        let thirdResumed = input.resume()
        #expect(!thirdResumed)
        #expect(input.reading == .catchingUp)
        input.caughtUp()
        #expect(input.reading == .current)
    }

    @Test func `an input is added to the list of resumable ones once`() {
        var input = InputState()
        let firstIsAdded = input.markResumable()
        #expect(firstIsAdded)
        let secondIsAdded = input.markResumable()
        #expect(!secondIsAdded)
        let firstWasListed = input.unmarkResumable()
        #expect(firstWasListed)
        let secondWasListed = input.unmarkResumable()
        #expect(!secondWasListed)
    }

    // MARK: Lists

    @Test func `a login list is asked for piece by piece`() {
        var list = ListProgress()
        #expect(!list.canAsk)
        list.beginList()
        #expect(list.isListing && list.canAsk)
        list.ask()
        #expect(list.hasAsked && !list.canAsk)
        list.pieceArrived()
        #expect(list.canAsk)
        list.ask()
        list.listEnded()
        #expect(!list.isListing && !list.hasAsked && !list.canAsk)
    }

    @Test func `a client that misses an event takes none until it has caught up`() {
        var list = ListProgress()
        list.missEvent()
        #expect(list.isConflated && list.canAsk)
        list.ask()
        #expect(list.isConflated)
        list.pieceArrived()
        #expect(list.isConflated && list.canAsk)
        list.ask()
        list.caughtUp()
        #expect(!list.isConflated && !list.canAsk)
    }

    @Test func `a client that has missed an event since it asked asks again`() {
        var list = ListProgress()
        list.missEvent()
        list.ask()
        list.missEvent()
        list.caughtUp()
        #expect(list.isConflated && list.canAsk)
        list.ask()
        list.caughtUp()
        #expect(!list.isConflated)
    }

    @Test func `a list and what was missed end independently`() {
        var list = ListProgress()
        list.beginList()
        list.missEvent()
        list.ask()
        list.caughtUp()
        #expect(list.isListing && !list.isConflated)
        list.missEvent()
        list.listEnded()
        #expect(!list.isListing && list.isConflated && list.canAsk)
    }

    @Test func `a reader of the feed always has more to ask for`() {
        var list = ListProgress()
        list.beginFeed()
        #expect(list.isFeedReader && list.canAsk)
        list.ask()
        list.caughtUp()
        #expect(list.canAsk && !list.isConflated && !list.isListing)
    }

    // MARK: Deadlines

    @Test func `a token that expires while it is renewed ends the session afterwards`() {
        var deadlines = TimingWheel(now: 0)
        var token = TokenExpiry()
        deadlines.set(&token.deadline, .token, of: 0, to: .init(milliseconds: 10))
        token.beginRefresh()
        let earlierDue = deadlines.popDue(now: 10)
        #expect(earlierDue != nil)
        let firstEnds = token.expire()
        #expect(!firstEnds)
        let secondEnds = token.endRefresh()
        #expect(secondEnds)
    }

    @Test func `a token that was renewed in time does not end the session`() {
        var deadlines = TimingWheel(now: 0)
        var token = TokenExpiry()
        deadlines.set(&token.deadline, .token, of: 0, to: .init(milliseconds: 10))
        token.beginRefresh()
        deadlines.set(&token.deadline, .token, of: 0, to: .init(milliseconds: 20))
        let firstEnds = token.endRefresh()
        #expect(!firstEnds)
        let earlierDue = deadlines.popDue(now: 19)
        #expect(earlierDue == nil)
        let laterDue = deadlines.popDue(now: 20)
        #expect(laterDue != nil)
        let secondEnds = token.expire()
        #expect(secondEnds)
    }

    @Test func `a connection that was not read from is looked at once more`() {
        var silence = Silence()
        let firstMayHaveArrived = silence.mayHaveArrived(isUnread: false)
        #expect(!firstMayHaveArrived)
        let secondMayHaveArrived = silence.mayHaveArrived(isUnread: true)
        #expect(secondMayHaveArrived)
        let thirdMayHaveArrived = silence.mayHaveArrived(isUnread: false)
        #expect(thirdMayHaveArrived)
        let fourthMayHaveArrived = silence.mayHaveArrived(isUnread: false)
        #expect(!fourthMayHaveArrived)
    }
}
