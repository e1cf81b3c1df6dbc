import Connections
import EventLoop
import Outboxes
import PresenceClient
import PresenceCore
import Testing

@testable import PresenceServer

@Suite struct `Outboxes of which a turn writes two` {
    /// Six accounts watch alice, each on a connection of its own.
    private func service(
        _ adjust: (inout Configuration) -> Void = { _ in }
    ) -> (SmallService, backend: StreamID, watchers: [StreamID]) {
        let service = SmallService {
            $0.connection.outboxesPerTurn = 2
            adjust(&$0)
        }
        let watchers = (0..<6).map { service.login("w\($0)") }
        for watcher in watchers {
            let watch: JSON = ["type": 1, "expiry": 3_600, "publishers": ["alice"]]
            #expect(service.ask("subscribe", watch, on: watcher)["count"] == 1)
        }
        return (service, service.connectAppServer(), watchers)
    }

    /// Has alice's status published. A turn submits it to the disk; what it leads to is in the
    /// outboxes afterwards, and not written.
    private func publish(_ value: Int64, _ service: SmallService, _ backend: StreamID) {
        let status: JSON = [
            "account": "alice", "type": 1, "value": .integer(value), "onlineOnly": false,
        ]
        service.send("publish", status, on: backend)
        service.connections.turnEnded()
        service.connections.withHost { host, now in
            host.report(service.disk.settle(isFailing: false), at: now)
        }
    }

    /// The values that each connection was sent since the last call.
    private func values(_ service: SmallService, _ watchers: [StreamID]) -> [[Int64]] {
        watchers.map { watcher in
            service.messages(watcher).compactMap {
                $0["params"]?["events"]?.array?.first?["value"]?.integer
            }
        }
    }

    @Test func `follow each other, and have what has come meanwhile`() {
        let (service, backend, watchers) = service()
        publish(10_001, service, backend)
        #expect(service.dirtyCount == 7, "six watchers, and the answer")
        // Its first turn writes two.
        publish(10_002, service, backend)
        var sent = values(service, watchers)
        #expect(sent.count { $0 == [10_001] } <= 2)
        var turns = 0
        while service.dirtyCount > 0, turns < 9 {
            service.connections.turnEnded()
            let values = values(service, watchers)
            #expect(values.count { !$0.isEmpty } <= 2)
            for (index, list) in values.enumerated() {
                #expect(list != [10_001], "what has come meanwhile is written with it")
                sent[index] += list
            }
            turns += 1
        }
        #expect(sent == Array(repeating: [10_001, 10_002], count: 6))
        #expect(service.dirtyCount == 0)
        service.connections.checkInvariants()
    }

    @Test func `are written in part, if that is more`() {
        let (service, backend, watchers) = service { $0.connection.flushFraction = 2 }
        publish(10_001, service, backend)
        service.connections.turnEnded()
        // Seven have something to write: six watchers, and one has the answer.
        #expect(service.dirtyCount == 4)
        service.connections.turnEnded()
        #expect(service.dirtyCount == 2)
        service.connections.turnEnded()
        #expect(values(service, watchers) == Array(repeating: [10_001], count: 6))
    }

    @Test func `keep one place when their connection is followed by another`() {
        let (service, backend, watchers) = service()
        publish(10_001, service, backend)
        let count = service.dirtyCount
        let last = watchers[5]
        service.connections.streamEnded(
            last, .failed(UVError(code: -104, operation: "read")))
        service.connections.streamClosed(last)
        service.network.remove(last)
        let next = service.connect()
        #expect(next.slot == last.slot)
        service.send("ping", on: next)
        service.connections.checkInvariants()
        #expect(service.dirtyCount == count)
    }

    @Test func `are all written when they share too much`() {
        let (service, backend, watchers) = service { $0.connection.shares.shareCountMax = 6 }
        publish(10_001, service, backend)
        service.connections.turnEnded()
        #expect(values(service, watchers) == Array(repeating: [10_001], count: 6))
    }

    @Test func `hold a large fan-out until its last slice is written`() {
        let (service, backend, watchers) = service {
            $0.engine.subscribersPerSlice = 3
            $0.connection.receiversPerTurn = 3
        }
        publish(10_001, service, backend)
        var written: [Int] = []
        for _ in 0..<9 {
            service.connections.turnEnded()
            // A slice has three, beside the answer, and a turn writes two.
            #expect(service.dirtyCount <= 2)
            written.append(values(service, watchers).count { !$0.isEmpty })
        }
        #expect(written.reduce(0, +) == 6 && written.allSatisfy { $0 <= 2 })
    }

    @Test func `have a large fan-out continue without other input`() {
        let (service, backend, watchers) = service {
            $0.engine.subscribersPerSlice = 3
            $0.connection.receiversPerTurn = 3
        }
        publish(10_001, service, backend)
        var turns = 0
        service.connections.turnEnded()
        while let armed = service.network.armed,
            armed <= service.network.monotonicMilliseconds, turns < 30
        {
            service.connections.turnEnded()
            turns += 1
        }
        #expect(values(service, watchers) == Array(repeating: [10_001], count: 6))
        #expect(turns < 30, "and it rests when there is no more to do")
    }
}

@Suite struct `Login lists of large states` {
    /// Four clients log in again; each watches ten accounts with statuses of 4,000 bytes.
    @Test func `have their bytes of a turn, and the others of the next ones`() {
        let service = SmallService {
            $0.engine.limits.statesPerFrameMax = 1
            $0.connection.listBytesPerTurn = 4_000
        }
        let backend = service.connectAppServer()
        let names = (0..<10).map { JSON.string("p\($0)") }
        let text = JSON.string(String(repeating: "x", count: 4_000))
        for name in names {
            let status: JSON = [
                "account": name, "type": 100, "value": 10_001, "ext": text, "onlineOnly": false,
            ]
            #expect(service.ask("publish", status, on: backend)["message"] == nil)
        }
        let watch: JSON = ["type": 100, "expiry": 3_600, "publishers": .array(names)]
        for number in 0..<4 {
            let first = service.login("c\(number)", "first")
            #expect(service.ask("subscribe", watch, on: first)["count"] == 10)
        }
        let ids = (0..<4).map { number in
            let id = service.connect()
            let login: JSON = [
                "account": .string("c\(number)"), "device": "second", "sync": "all",
            ]
            service.send("login", login, on: id)
            return id
        }
        var sent = [0, 0, 0, 0]
        var turns = 0
        while sent.contains(where: { $0 < 10 }), turns < 100 {
            service.connections.turnEnded()
            let frames = ids.map { id in service.messages(id).count { $0["method"] == "events" } }
            // The first frame of each comes with the answer to the login, and is charged to it.
            #expect(frames.reduce(0, +) <= (turns == 0 ? 5 : 1), "a frame is the bytes of a turn")
            for (place, count) in frames.enumerated() { sent[place] += count }
            #expect((sent.max() ?? 0) - (sent.min() ?? 0) <= 1, "all in the same measure")
            turns += 1
        }
        #expect(sent == [10, 10, 10, 10])
    }
}
