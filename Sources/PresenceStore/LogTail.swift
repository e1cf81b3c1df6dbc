internal import GRDB
internal import Glibc

/// What must be cut from the write-ahead log after a commit that failed.
///
/// When the last `fsync` of a commit fails, its frames and its commit mark may already be in the
/// log. The running connection knows that and would overwrite them. But the next connection reads
/// the log from its start and would take the transaction for committed, after its failure was
/// reported. So the log is cut back to the last good commit before the database is opened again.
/// https://www.sqlite.org/walformat.html: 32 bytes, then frames of 24 bytes and a page.
///
/// When all frames are in the database, the next commit begins the log again from its start with
/// another header, unless a backup still reads the frames: then the log must not be cut below them.
/// Any program may have copied the frames into the database. So only the header shows whether the
/// failed commit has begun the log again. If it has, nothing in the log is valid.
struct LogTail {
    var goodFrames: Int32
    var pageBytes: Int
    /// The header of the log at the last good commit or checkpoint. Nil if it could not be read:
    /// then the good frames are taken to be in the log.
    var header: [UInt8]?

    /// The header of the log in a file; empty if there is none, nil if it cannot be read.
    static func header(of path: String) -> [UInt8]? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return errno == ENOENT ? [] : nil }
        defer { closeOnce(descriptor) }
        return header(of: descriptor)
    }

    private static func header(of descriptor: CInt) -> [UInt8]? {
        var result = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: headerBytes) { buffer, count in
            result = unsafe pread(descriptor, buffer.baseAddress, headerBytes, 0)
            count = max(0, result)
        }
        guard result >= 0 else { return nil }
        return result == headerBytes ? bytes : []
    }

    private static let headerBytes = 32

    /// Bytes of the log that are good.
    private func goodBytes(of descriptor: CInt) throws(StoreError) -> Int {
        precondition(goodFrames >= 0 && pageBytes >= 512, "a log of such pages")
        if let header {
            guard let current = Self.header(of: descriptor) else {
                throw StoreError(code: ResultCode.SQLITE_IOERR_READ.rawValue)
            }
            if header.isEmpty || header != current { return 0 }
        }
        return goodFrames == 0 ? 0 : Self.headerBytes + Int(goodFrames) * (24 + pageBytes)
    }

    /// Cuts the log.
    ///
    /// If there is no log, this is a no-op.
    func cut(from path: String, faults: InjectedFaults?) throws(StoreError) {
        try faults?.check(.scrub)
        let descriptor = unsafe open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return }
            throw StoreError(code: ResultCode.SQLITE_CANTOPEN.rawValue)
        }
        defer { closeOnce(descriptor) }
        let length = try goodBytes(of: descriptor)
        // Another program that had the log open may have made it shorter already.
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            throw StoreError(code: ResultCode.SQLITE_IOERR_FSTAT.rawValue)
        }
        guard status.st_size <= length || ftruncate(descriptor, length) == 0 else {
            throw StoreError(code: ResultCode.SQLITE_IOERR_TRUNCATE.rawValue)
        }
        guard fsync(descriptor) == 0 else {
            throw StoreError(code: ResultCode.SQLITE_IOERR_FSYNC.rawValue)
        }
    }
}
