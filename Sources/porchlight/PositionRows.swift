import Deliveries
import PresenceServer
import PresenceStore
import PresenceWire

/// The positions of readers of a kind, such as `webhook`: rows of the database.
struct PositionRows: Sendable {
    private let readers: StoredReaders
    private let kind: String
    private let directory: String

    /// Those of readers whose earlier versions have stored them in files in `directory`.
    init(_ readers: StoredReaders, of kind: String, _ directory: String) {
        self.readers = readers
        self.kind = kind
        self.directory = directory
    }

    /// A reader of what is undelivered that begins now begins here.
    var newest: FeedCursor { readers.newest }

    private func rowName(_ name: String) -> [UInt8] { Array("\(kind):\(name)".utf8) }

    // MARK: Rows

    /// What is stored of a reader.
    func position(of name: String) async -> ReaderPosition? {
        if let row = readers.take(rowName(name)) {
            _ = file(of: name).take(bytesMax: 0)
            return ReaderPosition(row)
        }
        guard let cursor = cursorInFile(of: name) else { return nil }
        // Until it is a row, the file is the position.
        if await readers.move(ReaderMove(rowName(name), to: Array(cursor.utf8))) {
            _ = file(of: name).take(bytesMax: 0)
        }
        return ReaderPosition(cursor)
    }

    /// Stores a change. Returns whether it is durable.
    func store(_ change: PositionChange, of name: String) async -> Bool {
        await readers.move(
            ReaderMove(
                rowName(name), to: change.cursor.map { Array($0.utf8) },
                begun: change.begun.map { UnfinishedRow($0) },
                finished: change.finished.map { (Int64(bitPattern: $0), Array($1.utf8)) }))
    }

    /// Forgets all other readers of the kind. Those that cannot be forgotten now are at the next
    /// start.
    func forget(allBut names: [String]) async {
        let known = Set(names.map { rowName($0) })
        let start = rowName("")
        for row in readers.names where row.starts(with: start) && !known.contains(row) {
            _ = await readers.remove(row)
        }
    }

    // MARK: Files

    /// Versions until 0.2 stored a position in a file, with this line before it.
    private var header: String { "porchlight \(kind) 1\n" }

    private func file(of name: String) -> SideFile {
        let safe = name.map { $0.isLetter || $0.isNumber || ".-_".contains($0) ? $0 : "_" }
        return SideFile(directory: directory, name: "\(kind)-\(String(safe))")
    }

    private func cursorInFile(of name: String) -> String? {
        guard let content = file(of: name).read(bytesMax: 1_024) else { return nil }
        let text = String(decoding: content, as: UTF8.self)
        guard text.hasPrefix(header), text.hasSuffix("\n") else { return nil }
        let cursor = text.dropFirst(header.count).dropLast()
        return cursor.isEmpty ? nil : String(cursor)
    }
}

extension ReaderPositions {
    /// Positions that are rows of the database.
    init(_ rows: PositionRows) {
        self.init(
            newest: rows.newest, load: { await rows.position(of: $0) },
            store: { await rows.store($1, of: $0) })
    }
}

extension ReaderPosition {
    fileprivate init(_ row: ReaderRow) {
        self.init(
            row.cursor.map { String(decoding: $0, as: UTF8.self) },
            unfinished: row.unfinished.map { UnfinishedDelivery($0) })
    }
}

extension UnfinishedDelivery {
    fileprivate init(_ row: UnfinishedRow) {
        self.init(
            number: UInt64(bitPattern: row.number),
            device: String(decoding: row.device, as: UTF8.self),
            account: String(decoding: row.account, as: UTF8.self), sent: row.sent)
    }
}

extension UnfinishedRow {
    fileprivate init(_ delivery: UnfinishedDelivery) {
        self.init(
            number: Int64(bitPattern: delivery.number), device: Array(delivery.device.utf8),
            account: Array(delivery.account.utf8), sent: delivery.sent)
    }
}
