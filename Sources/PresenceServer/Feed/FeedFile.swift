import Logging
import PresenceCore
import PresenceStore

/// Where the feed is over an ordered restart.
///
/// After a crash there is none, and every reader begins anew: what was written lazily may be lost
/// then, and only the states in force are true. The same where the database is another one than
/// was left, such as a backup.
struct FeedFile {
    private let file: SideFile
    private let limits: FeedLimits

    init(_ configuration: Configuration) {
        file = SideFile(directory: configuration.dataDirectory, name: "feed")
        limits = configuration.feed
    }

    /// The ring that was kept, if it is whole and the database is the one that was left.
    func take(stamp: UInt64, _ logger: Logger, at now: Moment) -> FeedLog? {
        // The bound may have been another when it was written.
        guard let kept = file.take(bytesMax: 2 << 30) else { return nil }
        do throws(FeedLog.Damage) {
            return try FeedLog(
                kept, stamp: stamp, bytesMax: limits.feedBytesMax, seconds: limits.feedSeconds,
                at: now)
        } catch {
            logger.warning("the saved feed is damaged: feed readers are reset")
            return nil
        }
    }

    /// Keeps the ring; to be called when the database has been closed.
    func put(_ log: FeedLog, _ logger: Logger, at now: Moment) {
        if !file.put(log.encoded(stamp: file.databaseStamp, at: now)) {
            logger.warning("cannot save the feed: feed readers are reset")
        }
    }
}
