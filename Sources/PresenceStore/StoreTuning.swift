/// The store's limits.
///
/// The defaults are those of the product; tests choose smaller ones.
package struct StoreTuning: Sendable {
    /// The rows after which a transaction is committed and the next one begun: 20,000 rows at 1.5
    /// µs are 30 ms, about as long as a request should wait for the writes of others.
    package var transactionRowsMax = 20_000
    /// How long a lazy write may wait for others of its kind.
    package var gatherMilliseconds = 50
    /// The pause before the first retry after a failure.
    package var backoffMillisecondsMin = 250
    /// The longest pause; each is twice the one before.
    package var backoffMillisecondsMax = 5_000
    /// The pages in the log at which a checkpoint is due: 16 MiB, so that a page that is written
    /// often is copied rarely.
    package var checkpointPages: Int32 = 4_096
    /// How long another program (a shell, a backup) may lock the database.
    package var busyMilliseconds = 1_000
    /// The page cache, in KiB, while there are writes.
    package var cacheKibibytes = 16_384
    /// How long the store must be idle before it gives memory back.
    package var idleMilliseconds = 3_000
    /// The most pages of the database; nil for no limit.
    package var databasePagesMax: Int?
    /// Injected faults; nil in the product.
    package var faults: InjectedFaults?

    package init() {}
}
