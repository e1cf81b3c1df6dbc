import Foundation

/// A file whose first line is a credential. What stands there is never told.
struct CredentialFile {
    let path: String
    /// The flag that it was given with.
    let flag: String
    /// What should stand there, such as `key`.
    let content: String

    /// The first line that is not empty.
    ///
    /// - Throws: which file is to blame, and why.
    func firstLine() throws -> String {
        guard let text = String(validating: try bytes(), as: UTF8.self) else {
            throw Failure("\(name) holds no \(content): what stands there is not UTF-8.")
        }
        guard let line = text.split(whereSeparator: \.isNewline).first else {
            throw Failure("\(name) holds no \(content): it is empty.")
        }
        return String(line)
    }

    private var name: String { "The file \(path) given with \(flag)" }

    /// By the calls of the system, which say why they fail; Foundation's wrap it in three layers.
    private func bytes() throws -> [UInt8] {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable() }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = unsafe part.withUnsafeMutableBytes { space in
                unsafe read(descriptor, space.baseAddress, space.count)
            }
            guard count >= 0 else { throw unreadable() }
            guard count > 0 else { return bytes }
            bytes += part[..<count]
        }
    }

    /// What the last call has failed of.
    private func unreadable() -> Failure {
        Failure("\(name) cannot be read: \(unsafe String(cString: strerror(errno))).")
    }
}
