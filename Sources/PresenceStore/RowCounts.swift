internal import GRDB

/// The tables whose rows are kept in memory, wholly or in part.
public enum KeptTable: String, CaseIterable, Sendable {
    case account, session, status, relation, message, card, device, subscription
}

extension Store {
    /// Counts rows, for an estimate of the memory that they need. To be called before `start`.
    ///
    /// Reads the tables once: less than the check that `open` makes.
    /// - Throws: if they cannot be read.
    public func rowCounts() throws(StoreFileError) -> [KeptTable: Int] {
        let (queue, files, _) = opened()
        do {
            return try queue.inDatabase { db in
                var counts: [KeptTable: Int] = [:]
                for table in KeptTable.allCases {
                    counts[table] =
                        try Int.fetchOne(db, sql: "SELECT count(*) FROM \(table.rawValue)")
                }
                return counts
            }
        } catch {
            throw Inspection.fileError(error, files)
        }
    }
}
