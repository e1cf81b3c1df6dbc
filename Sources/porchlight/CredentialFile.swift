/// A file whose first line is a credential. Errors never quote it.
struct CredentialFile {
    let path: String
    /// The option that it was given with.
    let flag: String
    /// What it should hold, such as `key`.
    let content: String

    /// The first line that is not empty.
    ///
    /// - Throws: which file is at fault, and why.
    func firstLine() throws -> String {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try readFile(path)
        } catch {
            throw CommandError("\(name) cannot be read: \(error.words).")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandError("\(name) holds no \(content): it is not UTF-8.")
        }
        guard let line = text.split(whereSeparator: \.isNewline).first else {
            throw CommandError("\(name) holds no \(content): it is empty.")
        }
        return String(line)
    }

    private var name: String { "The file \(path) given with \(flag)" }
}
