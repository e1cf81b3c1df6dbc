internal import GRDB

/// The database's shape: its mark, its migrations in order, and nothing else.
///
/// Every table is clustered by its key (`WITHOUT ROWID`, or the rowid as key where rows are
/// large), so that the rows one request touches are neighbours and there is no second tree to
/// keep. A migration that has been released is never edited; the next change is the next number.
enum Schema {
    /// "PLIT" in ASCII: says whose database it is, see `PRAGMA application_id`.
    static let applicationID: Int32 = 0x504C_4954

    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("001 service", migrate: createService)
        migrator.registerMigration("002 presence", migrate: createPresence)
        migrator.registerMigration("003 subscription", migrate: createSubscription)
        migrator.registerMigration("004 relation", migrate: createRelation)
        migrator.registerMigration("005 availability", migrate: addAvailability)
        migrator.registerMigration("006 credential", migrate: createCredential)
        migrator.registerMigration("007 request", migrate: addRequestContent)
        migrator.registerMigration("008 message", migrate: createMessage)
        migrator.registerMigration("009 card", migrate: createCard)
        migrator.registerMigration("010 device", migrate: createDevice)
        migrator.registerMigration("011 handOver", migrate: addHandOver)
        migrator.registerMigration("012 reader", migrate: createReader)
        return migrator
    }
}
