/// A file whose first line is a credential. Errors never quote it.
public struct CredentialFile {
    let path: String
    let flag: String
    let content: String

    /// A file that was given with the option `flag` and should hold `content`, such as a `key`.
    public init(path: String, flag: String, content: String) {
        self.path = path
        self.flag = flag
        self.content = content
    }

    /// The first line that is not empty.
    ///
    /// - Throws: which file is invalid, and why.
    public func firstLine() throws -> String {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try readSecretFile(path)
        } catch {
            throw CommandError("\(name) cannot be read: \(error.words).")
        }
        return try Self.firstLine(of: bytes, in: name, content)
    }

    /// The first line of standard input that is not empty.
    public static func firstLineOfInput(content: String) throws -> String {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try readSecretInput()
        } catch {
            throw CommandError("Standard input cannot be read: \(error.words).")
        }
        return try firstLine(of: bytes, in: "Standard input", content)
    }

    private static func firstLine(
        of bytes: [UInt8], in name: String, _ content: String
    ) throws -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandError("\(name) holds no \(content): it is not UTF-8.")
        }
        // Not at other ends of lines, which a password may contain.
        guard let line = text.split(whereSeparator: { $0 == "\n" || $0 == "\r\n" }).first else {
            throw CommandError("\(name) holds no \(content): it is empty.")
        }
        return String(line)
    }

    private var name: String { "The file \(path) given with \(flag)" }
}
