internal import Glibc

/// A file under a name of its own until it is complete: two writers of one file do not meet.
///
/// A writer that is killed leaves its file behind. A file is locked while it is written, so the
/// next writer sees that it is abandoned, and removes it.
final class PartialFile {
    /// Its name until it is complete.
    let path: String
    private let files: StoreFiles
    private let target: String
    private let lock: Int32
    private var isPublished = false

    /// An empty file beside `target` that only this user can read; nil if it cannot be created.
    init?(for target: String, _ files: StoreFiles) {
        Self.removeAbandoned(of: target, files)
        // Another writer may take it for abandoned before it is locked, and remove it.
        for _ in 0..<Self.attemptsMax {
            let number = UInt64.random(in: .min ... .max)
            let path = target + Self.mark + String(number, radix: 36)
            let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { return nil }
            if Self.isLocked(descriptor), files.isOpen(path, descriptor) {
                self.path = path
                self.files = files
                self.target = target
                lock = descriptor
                return
            }
            closeOnce(descriptor)
        }
        return nil
    }

    deinit {
        if !isPublished { Self.removeDatabase(path) }
        closeOnce(lock)
    }

    /// Gives the file its name, when it is on disk. Returns the number of the error.
    ///
    /// Unless an existing file is to be replaced, one that has appeared in the meantime is kept.
    func publish(_ existing: Backup.Existing) -> Int32? {
        guard files.synchronize(path) else { return errno }
        if let error = rename(existing) { return error }
        isPublished = true
        return files.synchronize(Self.parts(of: target).folder) ? nil : errno
    }

    private func rename(_ existing: Backup.Existing) -> Int32? {
        if existing == .kept {
            guard unsafe link(path, target) != 0 else {
                _ = unsafe unlink(path)
                return nil
            }
            // Not every file system has hard links.
            guard errno != EEXIST, files.kind(of: target) == nil else { return EEXIST }
        }
        return unsafe Glibc.rename(path, target) == 0 ? nil : errno
    }

    // MARK: Names

    private static let mark = ".partial-"
    private static let attemptsMax = 8

    /// Removes what killed writers of the same file have left.
    private static func removeAbandoned(of target: String, _ files: StoreFiles) {
        let (folder, name) = parts(of: target)
        let begin = Array((name + mark).utf8)
        for found in files.names(in: folder) where found.utf8.starts(with: begin) {
            // SQLite's journal of another is not locked. It goes with its file.
            guard !found.utf8.dropFirst(begin.count).contains(UInt8(ascii: "-")) else { continue }
            let path = folder + found
            let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
            guard descriptor >= 0 else { continue }
            if isLocked(descriptor), files.isOpen(path, descriptor) { removeDatabase(path) }
            closeOnce(descriptor)
        }
    }

    /// The folder of a path, with its slash, and the name in it. By bytes: a slash and an accent
    /// after it are one `Character`.
    private static func parts(of path: String) -> (folder: String, name: String) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return ("./", path) }
        let start = path.utf8.index(after: slash)
        return (String(path[..<start]), String(path[start...]))
    }

    private static func isLocked(_ descriptor: Int32) -> Bool {
        flock(descriptor, LOCK_EX | LOCK_NB) == 0
    }

    private static func removeDatabase(_ path: String) {
        for suffix in ["", "-wal", "-shm", "-journal"] { _ = unsafe unlink(path + suffix) }
    }
}
