// The lower bound of a fan-out's cost: a server without state or checks that writes prepared bytes.
// It understands only the requests of the scenario fanout. Its CPU time is the kernel's share, on
// this machine at this time; anything more is the service's own. Like the service, it writes once
// per connection and turn.

import Containers
public import EventLoop
import Glibc
import PresenceWire

/// A server without rules, for comparison.
public enum Floor {
    /// Serves groups of this size until SIGTERM; `ready` gets the address.
    public static func serve(
        host: String, port: UInt16, group: Int, ready: (ListenAddress) -> Void
    ) throws(UVError) {
        let loop = try Loop()
        defer { loop.close() }
        let address = try loop.listen(host: host, port: port)
        try loop.watchSignals([SIGTERM, SIGINT])
        ready(address)
        loop.run(FloorServer(loop, group: group))
    }
}

private final class FloorServer: LoopHandler {
    private struct Peer {
        var account = -1
        var splitter = FrameSplitter()
        var outbox: [UInt8] = []
        var isBlocked = false
        var isDirty = false
    }

    private let loop: Loop
    private let group: Int
    private var peers: [Peer] = []
    private var ids: [StreamID] = []
    private var slotOfAccount: [Int32] = []
    private var dirty: [Int32] = []
    private var seq = 0

    init(_ loop: Loop, group: Int) {
        self.loop = loop
        self.group = group
    }

    // MARK: Requests

    private func take(_ body: RawSpan, from slot: Int) {
        // {"jsonrpc":"2.0","id":7,
        var offset = 22
        guard body.byteCount > offset, let kind = RequestKind(rawValue: Int(body.integer(&offset)))
        else {
            return
        }
        switch kind {
        case .login:
            // The name's digits, behind `…"params":{"account":"` and two letters.
            guard let start = body.find(Self.account, from: offset, before: body.byteCount) else {
                break
            }
            var digits = start + 12
            logIn(Int(body.integer(&digits)), slot)
        case .publish:
            guard let start = body.find(Self.value, from: offset, before: body.byteCount) else {
                break
            }
            var digits = start + 8
            publish(Int(body.integer(&digits)), from: slot)
        default: break
        }
        peers[slot].outbox.appendFrame { bytes in
            bytes.append(text: #"{"jsonrpc":"2.0","id":"#)
            bytes.append(integer: kind.rawValue)
            bytes.append(text: #","result":{}}"#)
        }
        if kind == .login {
            peers[slot].outbox.appendFrame {
                $0.append(text: #"{"jsonrpc":"2.0","method":"synced","params":{"count":0}}"#)
            }
        }
        touch(slot)
    }

    private static let account = keyWord(#"account""#)
    private static let value = keyWord(#""value":"#)

    private func logIn(_ account: Int, _ slot: Int) {
        while slotOfAccount.count <= account { slotOfAccount.append(-1) }
        slotOfAccount[account] = Int32(slot)
        peers[slot].account = account
    }

    private func publish(_ value: Int, from slot: Int) {
        let account = peers[slot].account
        guard account >= 0 else { return }
        seq += 1
        let frame = event(of: account, value)
        let start = account / group * group
        for other in start..<min(start + group, slotOfAccount.count) where other != account {
            let receiver = Int(slotOfAccount[other])
            guard receiver >= 0 else { continue }
            peers[receiver].outbox.append(frame.span)
            touch(receiver)
        }
    }

    /// As long as the service's.
    private func event(of account: Int, _ value: Int) -> [UInt8] {
        var frame: [UInt8] = []
        frame.appendFrame { bytes in
            bytes.append(
                text: #"{"jsonrpc":"2.0","method":"events","params":{"events":[{"type":1,"#)
            bytes.append(text: #""publisher":""#)
            names.append(account, to: &bytes)
            bytes.append(text: #"","value":"#)
            bytes.append(integer: value)
            bytes.append(text: #","cause":"publish","id":"0000000100001","seq":"#)
            bytes.append(integer: 1_048_576 + seq)
            bytes.append(text: #","time":1763700000000,"client":"other","device":"d","online":["#)
            bytes.append(text: #"{"client":"other","device":"d"}],"status":{"value":"#)
            bytes.append(integer: value)
            bytes.append(text: #","expires":1763703600000}}]}}"#)
        }
        return frame
    }

    /// Of a run with the seed 0: the only one that this serves.
    private let names = Names(seed: 0)

    private func touch(_ slot: Int) {
        guard !peers[slot].isDirty else { return }
        peers[slot].isDirty = true
        dirty.append(Int32(slot))
    }

    // MARK: The loop's events

    func streamAccepted(_ id: StreamID) {
        let slot = Int(id.slot)
        while peers.count <= slot {
            peers.append(Peer())
            ids.append(id)
        }
        peers[slot] = Peer()
        ids[slot] = id
        loop.startReading(id)
    }

    func streamReceived(_ id: StreamID, _ bytes: UnsafeRawBufferPointer) {
        let slot = Int(id.slot)
        var splitter = peers[slot].splitter
        peers[slot].splitter = FrameSplitter()
        let chunk = unsafe RawSpan(_unsafeBytes: bytes)
        var offset = 0
        while case let outcome = splitter.next(in: chunk, from: &offset, bodyBytesMax: 1 << 20),
            outcome != .needMore
        {
            guard case .frame(let body) = outcome else { continue }
            splitter.withBody(body, in: chunk) { take($0, from: slot) }
        }
        peers[slot].splitter = splitter
    }

    func turnEnded() {
        for number in dirty {
            let slot = Int(number)
            peers[slot].isDirty = false
            guard !peers[slot].isBlocked, !peers[slot].outbox.isEmpty else { continue }
            let outcome = unsafe peers[slot].outbox.withUnsafeBytes {
                unsafe loop.write(ids[slot], $0)
            }
            peers[slot].outbox.removeAll(keepingCapacity: true)
            if case .pending = outcome { peers[slot].isBlocked = true }
        }
        dirty.removeAll(keepingCapacity: true)
    }

    func streamDrained(_ id: StreamID) {
        peers[Int(id.slot)].isBlocked = false
        touch(Int(id.slot))
    }

    func streamEnded(_ id: StreamID, _ reason: StreamEnd) {
        let account = peers[Int(id.slot)].account
        if account >= 0 { slotOfAccount[account] = -1 }
        loop.close(id)
    }

    func streamClosed(_ id: StreamID) {}
    func acceptFailed(_ error: UVError) {}
    func timerFired() {}
    func wokenUp() {}
    func signalReceived(_ signal: CInt) { loop.stop() }
}
