internal import Glibc

/// Reserves a data directory for one process, or for those that only read it.
///
/// Held until it is released or the process ends.
///
/// `flock` belongs to the open file and not to the process. So a second store in the same process
/// is rejected, too, and nothing has to be cleaned up after `kill -9`.
final class DirectoryLock: Sendable {
    private let descriptor: Int32

    /// What the directory is reserved for.
    enum Use {
        case alone
        /// Together with others that read it.
        case reading
    }

    init(_ files: StoreFiles, _ use: Use = .alone) throws(StoreFileError) {
        var descriptor = unsafe open(files.lock, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        if descriptor < 0, use == .reading {
            // On a disk, or with rights, for reading only, it still shows whether it is locked.
            let error = errno
            descriptor = unsafe open(files.lock, O_RDONLY | O_CLOEXEC)
            if descriptor < 0 { errno = error }
        }
        guard descriptor >= 0 else { throw .unmade(.notWritable, in: files.directory) }
        guard flock(descriptor, (use == .alone ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0 else {
            let error = errno
            closeOnce(descriptor)
            guard error == EWOULDBLOCK else {
                throw StoreFileError(.failed, path: files.lock, detail: systemError(error))
            }
            throw StoreFileError(.inUse, path: files.directory)
        }
        if use == .alone { Self.reserveSpace(descriptor) }
        // Last: once all properties are set, a throw runs `deinit`, which would close the
        // descriptor a second time, when it may already belong to another thread.
        self.descriptor = descriptor
    }

    deinit {
        closeOnce(descriptor)
    }

    /// Gives a new file its space, in which numbers can be noted on a full disk. btrfs writes to
    /// another place each time, unless a flag is set while the file is empty, which other file
    /// systems do not know.
    private static func reserveSpace(_ descriptor: Int32) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_size == 0 else { return }
        var flags = 0
        if unsafe ioctl(descriptor, getFlags, &flags) == 0 {
            flags |= noCopyOnWrite
            _ = unsafe ioctl(descriptor, setFlags, &flags)
        }
        // A file of less than a block may be kept with its name.
        let zeros = [UInt8](repeating: 0, count: 8_192)
        _ = unsafe pwrite(descriptor, zeros, zeros.count, 0)
    }

    // https://man7.org/linux/man-pages/man2/ioctl_iflags.2.html, with a `long` of 64 bits.
    private static let getFlags: UInt = 0x8008_6601
    private static let setFlags: UInt = 0x4008_6602
    private static let noCopyOnWrite = 0x0080_0000

    /// The highest number that was ever reserved in this directory, as far as is known.
    ///
    /// It is stored beside the database, since it must survive when the database is replaced by a
    /// backup.
    var numbersReserved: Int64 {
        var number: Int64 = 0
        let size = MemoryLayout<Int64>.size
        let count = unsafe withUnsafeMutableBytes(of: &number) {
            unsafe pread(descriptor, $0.baseAddress, size, 0)
        }
        guard count == size else { return 0 }
        let reserved = Int64(littleEndian: number)
        // Above 2^53 the file is damaged, and numbers would not be exact in JavaScript.
        return (0...1 << 53).contains(reserved) ? reserved : 0
    }

    /// Notes that numbers up to this one have been reserved; false if that cannot be written.
    @discardableResult func note(numbersReserved: Int64) -> Bool {
        let number = max(numbersReserved, self.numbersReserved).littleEndian
        return unsafe withUnsafeBytes(of: number) {
            unsafe pwrite(descriptor, $0.baseAddress, $0.count, 0) == $0.count
        }
    }

    /// Reserves numbers here, durably. Once the file has its bytes, that needs no space on disk.
    func reserve(numbersUpTo end: Int64) -> Bool {
        note(numbersReserved: end) && fdatasync(descriptor) == 0
    }
}

/// Closes a descriptor.
///
/// If it is closed already, its number may belong to another thread: that must never happen.
func closeOnce(_ descriptor: Int32) {
    let failure = close(descriptor)
    precondition(failure == 0 || errno != EBADF, "a descriptor is closed a second time")
}

/// The system's message for the error number, such as "No space left on device".
func systemError(_ number: Int32 = errno) -> String {
    unsafe String(cString: strerror(number))
}
