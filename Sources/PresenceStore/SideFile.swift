internal import Glibc

/// A small file beside the database.
///
/// It exists completely or not at all: it gets its name when it is durable, and its removal is
/// durable before its content is used. So its content is taken at most once, whatever happens.
public struct SideFile: Sendable {
    private let files: StoreFiles
    private let path: String

    /// The file with this name in the data directory.
    public init(directory: String, name: String) {
        files = StoreFiles(directory: directory)
        path = directory + "/" + name
    }

    /// A number for the current state of the database. Changes with every write to it.
    public var databaseStamp: UInt64 { files.stamp }

    /// Reads the file and removes it; nil if there is none, or if it cannot be removed durably.
    public func take(bytesMax: Int) -> [UInt8]? {
        let content = read(bytesMax: bytesMax)
        _ = unsafe unlink(path + ".new")
        guard unsafe unlink(path) == 0, files.synchronize(files.directory) else { return nil }
        return content
    }

    /// Writes the file durably; false if that fails.
    public func put(_ content: [UInt8]) -> Bool {
        let descriptor = unsafe open(
            path + ".new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return false }
        let isWritten = write(content, to: descriptor) && fsync(descriptor) == 0
        closeOnce(descriptor)
        guard isWritten, unsafe rename(path + ".new", path) == 0 else {
            _ = unsafe unlink(path + ".new")
            return false
        }
        return files.synchronize(files.directory)
    }

    private func write(_ content: [UInt8], to descriptor: CInt) -> Bool {
        unsafe content.withUnsafeBytes { bytes in
            var written = 0
            while written < content.count {
                let start = unsafe bytes.baseAddress.map { unsafe $0 + written }
                let count = unsafe Glibc.write(descriptor, start, content.count - written)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                written += count
            }
            return true
        }
    }

    /// Reads the file and keeps it; nil if there is none, empty if it is too long.
    public func read(bytesMax: Int) -> [UInt8]? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        defer { closeOnce(descriptor) }
        let size = files.size(of: path)
        guard size <= bytesMax else { return [] }
        return unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            while count < size {
                let more = unsafe Glibc.read(
                    descriptor, buffer.baseAddress.map { unsafe $0 + count }, size - count)
                if more < 0, errno == EINTR { continue }
                guard more > 0 else { return }
                count += more
            }
        }
    }
}
