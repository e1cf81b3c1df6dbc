import Logging
import PresenceCore
import PresenceStore

/// Stores the feed across an ordered restart.
///
/// After a crash there is no stored feed, and every reader is reset: lazy writes may be lost then,
/// and only the current states are known to be correct. The same holds if the database has been
/// replaced, for example by a backup.
struct FeedFile {
    private let file: SideFile
    private let limits: FeedLimits

    init(_ configuration: Configuration) {
        file = SideFile(directory: configuration.dataDirectory, name: "feed")
        limits = configuration.feed
    }

    /// The stored ring, if it is undamaged and belongs to this database.
    func take(stamp: UInt64, _ logger: Logger, at now: Moment) -> FeedLog? {
        // The limit may have been different when the file was written.
        guard let kept = file.take(bytesMax: 2 << 30) else { return nil }
        do throws(FeedLogError) {
            return try FeedLog(
                kept, stamp: stamp, bytesMax: limits.feedBytesMax, seconds: limits.feedSeconds,
                at: now)
        } catch {
            logger.warning("the saved feed is damaged: feed readers are reset")
            return nil
        }
    }

    /// Stores the ring; to be called when the database has been closed.
    func put(_ log: FeedLog, _ logger: Logger, at now: Moment) {
        if !file.put(log.encoded(stamp: file.databaseStamp, at: now)) {
            logger.warning("cannot save the feed: feed readers are reset")
        }
    }
}
