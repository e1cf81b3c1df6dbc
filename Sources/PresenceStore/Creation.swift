internal import GRDB

/// Creates a new database under a temporary name; it is renamed when it is complete.
enum Creation {
    static func create(_ files: StoreFiles) throws(StoreFileError) {
        try files.createUnfinished()
        do {
            var configuration = Configuration()
            configuration.foreignKeysEnabled = false
            let queue = try DatabaseQueue(
                path: DatabasePath(files.unfinished).literal, configuration: configuration)
            defer { try? queue.close() }
            try queue.inDatabase { db in
                try db.execute(sql: "PRAGMA application_id = \(Schema.applicationID)")
            }
            try Schema.migrator.migrate(queue)
            try queue.inDatabase { db in
                try db.execute(sql: "PRAGMA journal_mode = WAL")
            }
        } catch {
            files.removeUnfinished()
            throw StoreFileError(
                .failed, path: files.database, detail: StoreError(error).description)
        }
        try files.publishUnfinished()
    }
}
