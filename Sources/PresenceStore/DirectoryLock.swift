internal import Glibc

/// Reserves a data directory for one process.
///
/// Held until it is released or the process ends.
///
/// `flock` belongs to the open file and not to the process. So a second store in the same process
/// is rejected, too, and nothing has to be cleaned up after `kill -9`.
final class DirectoryLock: Sendable {
    private let descriptor: Int32

    init(_ files: StoreFiles) throws(StoreFileError) {
        let descriptor = unsafe open(files.lock, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw StoreFileError(.notWritable, path: files.directory, detail: systemError())
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let error = errno
            closeOnce(descriptor)
            guard error == EWOULDBLOCK else {
                throw StoreFileError(.failed, path: files.lock, detail: systemError(error))
            }
            throw StoreFileError(.inUse, path: files.directory)
        }
        // Last: once all properties are set, a throw runs `deinit`, which would close the
        // descriptor a second time, when it may already belong to another thread.
        self.descriptor = descriptor
    }

    deinit {
        closeOnce(descriptor)
    }

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
