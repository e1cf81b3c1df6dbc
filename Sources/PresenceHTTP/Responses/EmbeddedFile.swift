import CEmbeddedFiles

/// A file of this repository that is served unchanged, as it was at build time.
struct EmbeddedFile {
    /// Without folders.
    let name: String
    let bytes: [UInt8]

    private init(_ file: embedded_file) {
        unsafe name = String(cString: file.name)
        unsafe bytes = Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
    }

    /// `docs/openapi.json`.
    static var description: EmbeddedFile { unsafe EmbeddedFile(embedded_description) }

    /// The files of the JavaScript SDK.
    static var sdk: [EmbeddedFile] { unsafe list(embedded_sdk(), embedded_sdk_count) }

    /// The files of the console.
    static var console: [EmbeddedFile] {
        unsafe list(embedded_console(), embedded_console_count)
    }

    private static func list(
        _ files: UnsafePointer<embedded_file>?, _ count: Int
    ) -> [EmbeddedFile] {
        unsafe UnsafeBufferPointer(start: files, count: count).map { unsafe EmbeddedFile($0) }
    }

    /// The files of the demo.
    static var demo: [EmbeddedFile] {
        let files = unsafe embedded_demo()
        return unsafe UnsafeBufferPointer(start: files, count: embedded_demo_count)
            .map { unsafe EmbeddedFile($0) }
    }
}
