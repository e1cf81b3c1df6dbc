import Foundation

/// Why a file that was named cannot be read, such as `Permission denied`.
public struct FileError: Error {
    /// The reason, in words.
    public let words: String
}

/// When a file is read.
public enum ReadOccasion {
    /// A pipe may be read, too, such as `<(…)` of a shell; the process waits for its writer.
    case startup
    /// Only files that can be read twice, and without waiting.
    case reload
}

/// The most bytes of a file that a setting or an option names. Certificates, keys and settings have
/// some kilobytes; what has more is another file, such as a device that never ends.
private let fileBytesMax = 4 << 20

/// Reads a file whole, up to 4 MiB.
///
/// By system calls, which say why they fail; `FileManager` returns nil.
public func readFile(
    _ path: String, _ occasion: ReadOccasion = .startup
) throws(FileError) -> [UInt8] {
    // Opening a pipe without a writer would wait for one.
    let waiting = occasion == .reload ? O_NONBLOCK : 0
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | waiting)
    guard descriptor >= 0 else { throw lastFileError() }
    defer { close(descriptor) }
    guard occasion == .startup || isSeekable(descriptor) else {
        throw FileError(words: "it is a pipe, which can be read at startup only")
    }
    return try readAll(descriptor)
}

/// Reads a file whole that has a secret or keys.
public func readSecretFile(
    _ path: String, _ occasion: ReadOccasion = .startup
) throws(FileError) -> [UInt8] {
    try checkingForMarks(try readFile(path, occasion))
}

/// Makes a file with a secret that only this user can read. It must not exist.
public func createSecretFile(_ path: String, _ content: [UInt8]) throws(FileError) {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw lastFileError() }
    defer { close(descriptor) }
    let count = unsafe content.withUnsafeBytes {
        unsafe write(descriptor, $0.baseAddress, $0.count)
    }
    guard count == content.count, fsync(descriptor) == 0 else {
        let isCut = count >= 0 && count < content.count
        let error = isCut ? FileError(words: "the disk is full") : lastFileError()
        unsafe unlink(path)
        throw error
    }
}

/// Reads standard input to its end, up to 4 MiB.
public func readInput() throws(FileError) -> [UInt8] {
    try readAll(STDIN_FILENO)
}

/// Reads a secret from standard input, to its end, up to 4 MiB.
public func readSecretInput() throws(FileError) -> [UInt8] {
    try checkingForMarks(try readInput())
}

/// Rejects a byte order mark at the beginning of a secret.
///
/// Editors on Windows write it, and none shows it. If it is kept, the other side may have a secret
/// without it; if it is dropped, the other side may have kept it. Every login would then fail, and
/// nothing would say why.
private func checkingForMarks(_ bytes: [UInt8]) throws(FileError) -> [UInt8] {
    guard !bytes.starts(with: [0xEF, 0xBB, 0xBF]) else {
        throw FileError(
            words: "it begins with a byte order mark, which is no part of a secret: save it as "
                + "UTF-8 without one")
    }
    // Random bytes may begin so, but text in UTF-16 has a zero in about every second byte.
    let isMarked = bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF])
    guard !isMarked || bytes.count(where: { $0 == 0 }) * 4 < bytes.count else {
        throw FileError(words: "it is UTF-16: save it as UTF-8")
    }
    return bytes
}

private func readAll(_ descriptor: CInt) throws(FileError) -> [UInt8] {
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 4_096)
    while true {
        let count = unsafe part.withUnsafeMutableBytes { space in
            unsafe read(descriptor, space.baseAddress, space.count)
        }
        if count < 0 && errno == EINTR { continue }
        guard count >= 0 else { throw lastFileError() }
        guard count > 0 else { return bytes }
        bytes += part[..<count]
        guard bytes.count <= fileBytesMax else {
            throw FileError(words: "it has more than 4 MiB")
        }
    }
}

/// Pipes, sockets and terminals have no position.
private func isSeekable(_ descriptor: CInt) -> Bool { lseek(descriptor, 0, SEEK_CUR) >= 0 }

/// Of the last call of the system.
private func lastFileError() -> FileError {
    FileError(words: unsafe String(cString: strerror(errno)))
}
