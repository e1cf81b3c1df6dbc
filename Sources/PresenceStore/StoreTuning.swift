/// The store's bounds.
///
/// The defaults are the product's; tests choose smaller ones.
package struct StoreTuning: Sendable {
    /// The rows after which a transaction is closed and the next one begun: 20,000 rows at
    /// 1.5 µs are 30 ms, about as long as anybody should wait for another's writes.
    package var transactionRowsMax = 20_000
    /// How long what nobody waits for may wait for more of its kind.
    package var gatherMilliseconds = 50
    /// The pause before the first try to write again after a failure.
    package var backoffMillisecondsMin = 250
    /// The pause grows by doubling up to this.
    package var backoffMillisecondsMax = 5_000
    /// The pages in the log after which they are brought into the database: 16 MiB, so that
    /// a page that is written often is copied seldom.
    package var checkpointPages: Int32 = 4_096
    /// How long another program (a shell, a backup) may hold the database.
    package var busyMilliseconds = 1_000
    /// The page cache, in KiB, while there is something to write.
    package var cacheKibibytes = 16_384
    /// How long nothing must have come before memory is given back.
    package var restMilliseconds = 3_000
    /// A bound on the size of the database; nil for none.
    package var databasePagesMax: Int?
    /// Faults that are to happen; nil in the product.
    package var faults: InjectedFaults?

    package init() {}
}
