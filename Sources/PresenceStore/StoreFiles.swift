internal import Glibc

/// The data directory and the names of its files.
struct StoreFiles: Sendable {
    let directory: String

    var database: String { directory + "/porchlight.sqlite" }
    var log: String { database + "-wal" }
    /// Where `porchlight backup` asks a running service.
    var backupSocket: String { directory + "/porchlight.socket" }
    var lock: String { directory + "/porchlight.lock" }
    /// The temporary name of a new database.
    var unfinished: String { database + ".new" }

    /// The names that the service and SQLite use for files of the database, whether they exist or
    /// not: what is written there would be taken for one of them.
    var ownFiles: [String] {
        let suffixes = ["", "-wal", "-shm", "-journal"]
        return [database, unfinished].flatMap { name in suffixes.map { name + $0 } }
            + [lock, backupSocket]
    }

    /// Creates the directory if it is missing, and checks that it is writable.
    func prepareDirectory() throws(StoreFileError) {
        if unsafe mkdir(directory, 0o700) != 0 {
            let error = errno
            if error == ENOENT, let parent = missingParent {
                throw StoreFileError(.parentMissing, path: directory, detail: parent)
            }
            guard error == EEXIST else {
                throw .unmade(
                    error == ENOTDIR ? .notADirectory : .directoryNotCreatable, in: directory,
                    number: error)
            }
        }
        guard kind(of: directory) == S_IFDIR else {
            throw StoreFileError(.notADirectory, path: directory)
        }
        guard unsafe access(directory, W_OK | X_OK) == 0 else {
            throw StoreFileError(.notWritable, path: directory, detail: systemError())
        }
    }

    /// The first directory of the path that does not exist. `/proc` does, and creates none: the
    /// kernel's error is the same.
    private var missingParent: String? {
        var path = ""
        for part in directory.split(separator: "/").dropLast() {
            path += path.isEmpty && !directory.hasPrefix("/") ? "\(part)" : "/\(part)"
            if unsafe access(path, F_OK) != 0 { return path }
        }
        return nil
    }

    /// Whether the directory is on a disk that is read-only.
    var isReadOnly: Bool {
        unsafe access(directory, W_OK) != 0 && errno == EROFS
    }

    /// Whether there is a database; rejects what cannot be one.
    func databaseExists() throws(StoreFileError) -> Bool {
        switch kind(of: database) {
        case nil:
            guard size(of: log) == 0 else {
                throw StoreFileError(.databaseMissing, path: database)
            }
            return false
        case S_IFREG:
            // SQLite takes a file shorter than its smallest page for a new database. But the
            // service gives a database its name when it is complete, so this one's content is lost.
            guard size(of: database) >= 512 else {
                throw StoreFileError(.notADatabase, path: database)
            }
            // SQLite would silently open it read-only.
            for path in [database, log] where kind(of: path) != nil {
                guard unsafe access(path, R_OK | W_OK) == 0 else {
                    throw StoreFileError(.notWritable, path: path, detail: systemError())
                }
            }
            return true
        default:
            throw StoreFileError(.notADatabase, path: database)
        }
    }

    /// Rejects a database that does not exist, or that this user may not read.
    func checkReadable() throws(StoreFileError) {
        for path in [database, log] { try Self.checkPermission(toRead: path) }
        guard kind(of: database) == S_IFREG else {
            throw StoreFileError(.noDatabase, path: directory)
        }
    }

    /// Rejects a path that may not be read: without permission, whether it exists is unknown.
    static func checkPermission(toRead path: String) throws(StoreFileError) {
        guard unsafe access(path, R_OK) != 0, errno == EACCES else { return }
        throw StoreFileError(.notReadable, path: path, detail: systemError(EACCES))
    }

    func size(of path: String) -> Int {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? status.st_size : 0
    }

    /// When a file was last written, in milliseconds since 1970 by the clock of that time.
    func written(_ path: String) -> Int64? {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        return Int64(status.st_mtim.tv_sec) * 1_000
    }

    /// A number that changes whenever the database or its log is written.
    var stamp: UInt64 { stamp(of: [database, log]) }

    /// A number that changes whenever one of some files is written.
    func stamp(of paths: [String]) -> UInt64 {
        var sum: UInt64 = 0
        for path in paths {
            var status = stat()
            let isThere = unsafe stat(path, &status) == 0 && status.st_size > 0
            let numbers =
                isThere ? [status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec] : [0]
            for number in numbers {
                sum = (sum ^ UInt64(bitPattern: Int64(number))) &* 0x9e37_79b9_7f4a_7c15
                sum ^= sum >> 32
            }
        }
        return sum
    }

    func kind(of path: String) -> mode_t? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
    }

    /// Removes what an older version has left, which mapped it: it is not used.
    func removeSharedMemory() { _ = unsafe unlink(database + "-shm") }

    func removeUnfinished() {
        for suffix in ["", "-wal", "-shm", "-journal"] {
            _ = unsafe unlink(unfinished + suffix)
        }
    }

    /// Creates an empty file that only this user can read; SQLite gives its log the same mode.
    func createUnfinished() throws(StoreFileError) {
        guard createFile(unfinished) else { throw .unmade(.notWritable, in: directory) }
    }

    /// Creates an empty file that only this user can read; false if that fails or the file exists.
    func createFile(_ path: String) -> Bool {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return false }
        closeOnce(descriptor)
        return true
    }

    /// Whether two paths lead to the same file.
    func isSame(_ path: String, _ other: String) -> Bool {
        var (first, second) = (stat(), stat())
        guard unsafe stat(path, &first) == 0, unsafe stat(other, &second) == 0 else { return false }
        return first.st_dev == second.st_dev && first.st_ino == second.st_ino
    }

    /// Whether a path, whose file may not exist, is one of the names for files of the database.
    func isOwn(_ path: String) -> Bool {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        let folder = parts.dropLast().joined(separator: "/")
        let place = parts.count == 1 ? "." : folder.isEmpty ? "/" : folder
        let ending = "/" + (parts.last ?? "")
        return ownFiles.contains { own in
            isSame(own, path) || own.hasSuffix(ending) && isSame(directory, place)
        }
    }

    /// Whether a path leads to the file of a descriptor.
    func isOpen(_ path: String, _ descriptor: Int32) -> Bool {
        var (first, second) = (stat(), stat())
        guard unsafe lstat(path, &first) == 0, unsafe fstat(descriptor, &second) == 0 else {
            return false
        }
        return first.st_dev == second.st_dev && first.st_ino == second.st_ino
    }

    /// The names in a folder; none if it cannot be read.
    func names(in folder: String) -> [String] {
        guard let stream = unsafe opendir(folder) else { return [] }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { start in
                    unsafe String(cString: start)
                }
            }
            names.append(name)
        }
        return names
    }

    /// Renames the finished database, so that a crash leaves a complete one or none.
    func publishUnfinished() throws(StoreFileError) {
        guard synchronize(unfinished), unsafe rename(unfinished, database) == 0,
            synchronize(directory)
        else { throw .unmade(.notWritable, in: directory) }
    }

    func synchronize(_ path: String) -> Bool {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { closeOnce(descriptor) }
        return fsync(descriptor) == 0
    }
}
