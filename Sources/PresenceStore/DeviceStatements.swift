internal import GRDB

/// The statements for the table `device`, prepared once for a connection.
struct DeviceStatements {
    private let put: PreparedStatement
    private let remove: PreparedStatement

    init(_ db: Database) throws {
        put = try PreparedStatement(
            db,
            """
            INSERT OR REPLACE INTO device (account, device, alias, tags, pushAddress, updated)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            """)
        remove = try PreparedStatement(
            db, "DELETE FROM device WHERE account = ?1 AND device = ?2")
    }

    func put(_ row: DeviceRow) throws(StoreError) {
        try put.run(
            row.account, row.device, row.alias, row.tags, row.pushAddress, row.updated)
    }

    /// The device has lost its push address.
    func putOwner(_ row: DeviceRow) throws(StoreError) {
        row.isEmpty ? try remove(row.account, row.device) : try put(row)
    }

    func remove(_ account: [UInt8], _ device: [UInt8]) throws(StoreError) {
        try remove.run(account, device)
    }
}

extension Store {
    func loadDevices(_ db: Database, _ reader: inout some StoreReader & ~Copyable) throws {
        let row = try PreparedStatement(
            db, "SELECT account, device, alias, tags, pushAddress, updated FROM device")
        while try row.next() {
            var device = DeviceRow(account: row.bytes(0), device: row.bytes(1))
            device.alias = row.bytes(2)
            device.tags = row.bytes(3)
            device.pushAddress = row.bytes(4)
            device.updated = row.integer(5)
            reader.device(device)
        }
    }
}
