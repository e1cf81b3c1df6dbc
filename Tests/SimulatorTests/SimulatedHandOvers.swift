import PresenceCore
import PresenceStore
import PresenceWire

/// All hand-overs that were ever committed. What a disk has committed it keeps over crashes, so
/// they are beside what waits, and are not removed with it.
struct SimulatedHandOvers {
    struct HandOver {
        let number: Int64
        let why: String

        /// The number as ids and cursors have it.
        var text: String {
            String(
                decoding: MessageID(number: UInt64(clamping: number)).text, as: UTF8.self)
        }
    }

    /// By body and account.
    private var handOvers: [String: HandOver] = [:]
    /// The body and the account of each message that was ever stored.
    private var names: [MessageKey: String] = [:]
    private var lastNumber: Int64 = 0
    /// What is wrong with them.
    private(set) var faults: [String] = []

    subscript(key: String) -> HandOver? { handOvers[key] }

    /// Messages were stored, some of which are handed over at once.
    mutating func note(_ content: MessageContentRow, _ rows: [MessageRow]) {
        for row in rows {
            let key = MessageKey(id: row.id, place: row.place)
            let body = String(decoding: content.body, as: UTF8.self)
            names[key] = "\(body) \(String(decoding: row.account, as: UTF8.self))"
            if row.handOver > 0 { note(key, row.handOver, row.why) }
        }
    }

    /// A message that waits is handed over.
    mutating func note(_ key: MessageKey, _ number: Int64, _ why: UInt8) {
        guard let name = names[key] else { return faults.append("\(key) was handed over") }
        if let before = handOvers[name] {
            faults.append("\(name) was handed over as \(before.number) and as \(number)")
        }
        if number <= lastNumber { faults.append("\(number) was handed over after \(lastNumber)") }
        lastNumber = number
        let word = UndeliveredReason(rawValue: why).map { "\($0)" } ?? "none"
        handOvers[name] = HandOver(number: number, why: word)
    }
}
