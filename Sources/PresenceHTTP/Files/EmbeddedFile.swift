import CEmbeddedFiles

/// A file of this repository, as it was at build time.
struct EmbeddedFile {
    let name: String
    let bytes: [UInt8]

    /// The files whose paths in `embedded_files.h` begin with this; their names are what follows.
    static func all(in folder: String) -> [EmbeddedFile] {
        let files = unsafe UnsafeBufferPointer(
            start: embedded_files(), count: embedded_files_count)
        return unsafe files.compactMap { file in
            let path = unsafe String(cString: file.name)
            guard path.hasPrefix(folder) else { return nil }
            return unsafe EmbeddedFile(
                name: String(path.dropFirst(folder.count)),
                bytes: Array(UnsafeBufferPointer(start: file.bytes, count: file.count)))
        }
    }
}
