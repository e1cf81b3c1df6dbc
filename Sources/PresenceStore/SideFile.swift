internal import Glibc

/// A small file beside the database.
///
/// It is there or not there, whole: it takes its name when it is on disk, and is gone from the
/// disk when it has been taken. So what is taken is taken once, whatever happens.
public struct SideFile: Sendable {
    private let files: StoreFiles
    private let path: String

    /// The file with this name in the data directory.
    public init(directory: String, name: String) {
        files = StoreFiles(directory: directory)
        path = directory + "/" + name
    }

    /// Which state of which database there is now. Changes whenever it is written.
    public var databaseStamp: UInt64 { files.stamp }

    /// Reads the file and removes it; nil where there is none, or it cannot be removed for good.
    public func take(bytesMax: Int) -> [UInt8]? {
        let content = read(bytesMax: bytesMax)
        _ = unsafe unlink(path + ".new")
        guard unsafe unlink(path) == 0, files.synchronize(files.directory) else { return nil }
        return content
    }

    /// Writes the file, to be there after a loss of power, too. False: it is not there.
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

    /// Reads the file and leaves it; nil where there is none, empty where it is too long.
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
