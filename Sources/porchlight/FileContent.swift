import Foundation

/// Why a file that was named cannot be read, such as `Permission denied`.
struct FileError: Error {
    let words: String
}

/// Reads a file whole.
///
/// By system calls, which say why they fail; `FileManager` returns nil.
func readFile(_ path: String) throws(FileError) -> [UInt8] {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw lastFileError() }
    defer { close(descriptor) }
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
    }
}

/// Reads a file whole that a setting names.
func readFile(_ path: String, givenWith flag: String) throws(SettingsError) -> [UInt8] {
    do throws(FileError) {
        return try readFile(path)
    } catch {
        throw SettingsError("The file \(path) given with \(flag) cannot be read: \(error.words).")
    }
}

/// Of the last call of the system.
private func lastFileError() -> FileError {
    FileError(words: unsafe String(cString: strerror(errno)))
}
