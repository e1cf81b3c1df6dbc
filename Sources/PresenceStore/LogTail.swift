internal import GRDB
internal import Glibc

/// What must be cut from the write-ahead log after a commit that failed.
///
/// When the last `fsync` of a commit fails, its frames and its commit mark may already be in the
/// log. The running connection knows that and would overwrite them. But the next connection reads
/// the log from its start and would take the transaction for committed, after its failure was
/// reported. So the log is cut back to the last good commit before the database is opened again.
/// https://www.sqlite.org/walformat.html: 32 bytes, then frames of 24 bytes and a page.
struct LogTail {
    var goodFrames: Int32
    var pageBytes: Int

    /// Cuts the log.
    ///
    /// If there is no log, this is a no-op.
    func cut(from path: String, faults: InjectedFaults?) throws(StoreFault) {
        try faults?.check(.scrub)
        let length = goodFrames == 0 ? 0 : 32 + Int(goodFrames) * (24 + pageBytes)
        let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return }
            throw StoreFault(code: ResultCode.SQLITE_CANTOPEN.rawValue)
        }
        defer { closeOnce(descriptor) }
        // Another program that had the log open may have cut it already.
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            throw StoreFault(code: ResultCode.SQLITE_IOERR_FSTAT.rawValue)
        }
        guard status.st_size <= length || ftruncate(descriptor, length) == 0 else {
            throw StoreFault(code: ResultCode.SQLITE_IOERR_TRUNCATE.rawValue)
        }
        guard fsync(descriptor) == 0 else {
            throw StoreFault(code: ResultCode.SQLITE_IOERR_FSYNC.rawValue)
        }
    }
}
