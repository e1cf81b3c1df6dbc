internal import GRDB

/// Creates a new database under a temporary name; it is renamed when it is complete.
enum Creation {
    static func create(_ files: StoreFiles) throws(StoreFileError) {
        try files.createUnfinished()
        do {
            var configuration = Configuration()
            configuration.foreignKeysEnabled = false
            let queue = try DatabaseQueue(
                path: DatabasePath(files.unfinished).exclusive, configuration: configuration)
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
            let storeError = StoreError(error)
            guard storeError.kind != .diskFull else {
                throw StoreFileError(.diskFull, path: files.directory)
            }
            throw StoreFileError(.failed, path: files.database, detail: storeError.description)
        }
        try files.publishUnfinished()
    }
}
