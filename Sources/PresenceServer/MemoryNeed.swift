import EventLoop
import PresenceStore

/// The memory that a service needs at least to begin with a database.
///
/// For each row the least that was measured: an account that only subscriptions name costs more,
/// and so does a long name. A service that could have started is not rejected.
struct MemoryNeed {
    /// About as many bytes.
    let bytes: UInt64

    /// Of a process without clients, without what the kernel can drop.
    private static let processBytes = 24 << 20

    /// That of a database with these numbers of rows.
    init(_ counts: [KeptTable: Int]) {
        let kept = counts.reduce(0) { $0 + $1.value * Self.rowBytes($1.key) }
        bytes = UInt64(clamping: Self.processBytes + kept)
    }

    private static func rowBytes(_ table: KeptTable) -> Int {
        switch table {
        case .account: 130
        case .session: 450
        case .status: 120
        case .relation, .subscription: 40
        case .message: 130
        case .card: 100
        case .device: 400
        }
    }

    /// Does not begin what the kernel would end while the database is being read.
    func check(_ limit: MemoryLimit) throws(ServiceError) {
        guard case .group = limit.source, bytes > limit.bytes else { return }
        throw .memory(neededBytes: bytes, limitBytes: limit.bytes)
    }
}
