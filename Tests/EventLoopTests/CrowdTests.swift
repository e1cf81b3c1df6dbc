import EventLoop
import Glibc
import Testing

@Suite struct CrowdTests {
    @Test func `a thousand connections come and go without a trace`() throws {
        raiseDescriptorLimit()
        let loop = try Loop()
        let recorder = Recorder(loop)
        let port = try loop.listenAnywhere()
        let clients = try (0..<1_000).map { _ in try Client(port: port) }
        recorder.run(until: { recorder.accepted.count == 1_000 })
        #expect(loop.streamCount == 1_000)
        #expect(Set(recorder.accepted.map(\.slot)) == Set(0..<1_000))
        recorder.onEnded = { loop.close($0) }
        // A third is closed here, a third by the peer, the rest with the loop.
        for id in recorder.accepted[..<333] { loop.close(id) }
        for client in clients[333..<666] { client.close() }
        recorder.run(until: { recorder.closed.count == 666 })
        #expect(loop.streamCount == 334)
        loop.close()
        #expect(loop.streamCount == 0)
        #expect(Set(recorder.closed) == Set(recorder.accepted))
        #expect(recorder.closed.count == 1_000)
    }

    @Test func `a full backlog does not prolong a turn`() throws {
        raiseDescriptorLimit()
        let loop = try Loop()
        let recorder = Recorder(loop)
        let port = try loop.listenAnywhere()
        let clients = try (0..<300).map { _ in try Client(port: port) }
        var perTurn: [Int] = []
        recorder.run(until: {
            perTurn.append(recorder.accepted.count - perTurn.reduce(0, +))
            return recorder.accepted.count == 300
        })
        #expect(try #require(perTurn.max()) <= 64)
        withExtendedLifetime(clients) { loop.close() }
    }

    @Test func `without descriptors accepting is suspended, and resumes when some are free`() async
    {
        await #expect(processExitsWith: .exitCode(0)) {
            let loop = try Loop()
            let recorder = Recorder(loop)
            let port = try loop.listenAnywhere()
            let client = try Client(port: port)
            let before = rejectDescriptors()
            recorder.run(until: {
                !recorder.acceptFailures.isEmpty || !recorder.accepted.isEmpty
            })
            if recorder.acceptFailures.map(\.name) != ["EMFILE"] { exit(2) }
            // However many turns there are and however long they take, the backlog is left alone.
            let looked = loop.monotonicMilliseconds + 150
            recorder.run(until: {
                loop.wakeup.wake()
                return loop.monotonicMilliseconds >= looked
            })
            if recorder.acceptFailures.count != 1 || !recorder.accepted.isEmpty { exit(3) }
            setDescriptorLimit(before)
            recorder.run(until: { recorder.accepted.count == 1 })
            client.send([1])
            recorder.run(until: { !recorder.received.isEmpty })
            loop.close()
            exit(0)
        }
    }

    @Test func `descriptors of the reserve are not used for connections`() async {
        await #expect(processExitsWith: .exitCode(0)) {
            let reserved = 8
            let loop = try Loop(descriptorsReserved: reserved)
            let recorder = Recorder(loop)
            let port = try loop.listenAnywhere()
            // Room for two connections, and the reserve. Another thread of this process may give
            // some more descriptors back.
            let clients = try (0..<16).map { _ in try Client(port: port) }
            setDescriptorLimit(rlim_t(Int(fillGapsBetweenDescriptors()) + 2 + reserved))
            recorder.run(until: { !recorder.acceptFailures.isEmpty })
            if recorder.accepted.count == clients.count { exit(2) }
            if !Descriptors.hasFree(reserved) || Descriptors.hasFree(reserved + 3) { exit(3) }
            // One that ends makes room for one that waits; a second one, if another thread has
            // taken a descriptor meanwhile.
            let accepted = recorder.accepted
            for (place, id) in accepted.enumerated() where !Descriptors.hasFree(reserved + 1) {
                loop.close(id)
                recorder.run(until: { recorder.closed.count > place })
            }
            recorder.run(until: { recorder.accepted.count > accepted.count })
            if !Descriptors.hasFree(reserved) { exit(4) }
            withExtendedLifetime(clients) { loop.close() }
            exit(0)
        }
    }
}

private func raiseDescriptorLimit() {
    var limit = rlimit()
    getrlimit(descriptors, &limit)
    limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, 8_192))
    setrlimit(descriptors, &limit)
}

/// Makes every new descriptor one too many, also the numbers that other threads of this process
/// give back meanwhile; only for a process of its own. Returns the limit before.
private func rejectDescriptors() -> rlim_t {
    var limit = rlimit()
    getrlimit(descriptors, &limit)
    let before = limit.rlim_cur
    setDescriptorLimit(0)
    return before
}

/// Takes every free number below the highest descriptor in use, and returns the one above that.
private func fillGapsBetweenDescriptors() -> CInt {
    let highest = (0..<CInt(65_536)).last { fcntl($0, F_GETFD) >= 0 } ?? 2
    var next = dup(0)
    while next <= highest { next = dup(0) }
    close(next)
    return next
}

private func setDescriptorLimit(_ count: rlim_t) {
    var limit = rlimit()
    getrlimit(descriptors, &limit)
    limit.rlim_cur = count
    setrlimit(descriptors, &limit)
}

private let descriptors = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
