import EventLoop

/// A part of a run that is compared with the other parts.
enum MixedPhase: Int, CaseIterable {
    case withoutMessages, withMessages
}

/// The actions of a mix, and messages of other accounts beside them in every other phase.
///
/// Phases alternate within one run, so that a machine that becomes slower changes both alike.
final class MixedMessages: LoadObserver {
    let ring: MessageRing
    private let load: Load
    private let mix: MixedActions
    private let clients: Range<Int>
    private let pauseNanoseconds: UInt64
    private var isSending = false
    private var dueNext: UInt64 = 0
    private var next: Int
    private var bytes: [UInt8] = []

    /// Bytes of text of a message.
    private static let bodyBytes = 200
    /// Pairs of phases, at least.
    private static let pairsMin = 4
    /// About as long is a phase of a long run. What else runs on the machine comes and goes within
    /// seconds, and should meet phases of both kinds.
    private static let phaseSeconds = 1.0
    private static let clientsMax = 2_000

    init(_ load: Load, _ mix: MixedActions, clients: Range<Int>, rate: Int) {
        self.load = load
        self.mix = mix
        self.clients = clients
        ring = MessageRing(load, clients)
        pauseNanoseconds = 1_000_000_000 / UInt64(rate)
        next = clients.lowerBound
    }

    /// The clients that exchange messages at a rate; none at 0.
    ///
    /// A box holds 50 messages of strangers. With one message each second it has room for those of
    /// a long stall.
    static func clients(from first: Int, rate: Int) -> Range<Int> {
        first..<first + (rate == 0 ? 0 : min(max(rate, 2), clientsMax))
    }

    /// Runs all phases, which take `seconds` together.
    func run(seconds: Double) throws(BenchError) {
        let pairs = max(Self.pairsMin, Int(seconds / (2 * Self.phaseSeconds)))
        let length = seconds / Double(2 * pairs)
        for pair in 0..<pairs {
            // Whichever is first in a pair is second in the next one.
            let isFirst = pair % 2 == 0
            try run(isFirst ? .withoutMessages : .withMessages, seconds: length)
            try run(isFirst ? .withMessages : .withoutMessages, seconds: length)
        }
    }

    private func run(_ phase: MixedPhase, seconds: Double) throws(BenchError) {
        isSending = phase == .withMessages
        dueNext = load.loop.monotonicNanoseconds
        mix.phase = phase
        try load.rest(seconds: seconds, "\(phase)")
        mix.phase = nil
        isSending = false
        try ring.settle()
    }

    func turnEnded() {
        mix.turnEnded()
        guard isSending else { return }
        let now = load.loop.monotonicNanoseconds
        while dueNext <= now {
            bytes.removeAll(keepingCapacity: true)
            ring.appendSend(by: next, bodyBytes: Self.bodyBytes, due: dueNext, to: &bytes)
            load.request(bytes, by: next)
            dueNext += pauseNanoseconds
            next = next + 1 == clients.upperBound ? clients.lowerBound : next + 1
        }
    }

    func answered(_ kind: RequestKind, of client: Int, in body: RawSpan) {
        if clients.contains(client) {
            ring.answered(kind, of: client, in: body)
        } else {
            mix.answered(kind, of: client, in: body)
        }
    }

    func delivered(_ messages: ScannedMessages, to client: Int) {
        ring.delivered(messages, to: client)
    }

    func arrived(_ client: Int, states: Int) { mix.arrived(client, states: states) }

    func listed(_ event: ScannedEvent, by client: Int) { mix.listed(event, by: client) }

    func received(_ event: ScannedEvent, by client: Int, in body: RawSpan) {
        mix.received(event, by: client, in: body)
    }
}
