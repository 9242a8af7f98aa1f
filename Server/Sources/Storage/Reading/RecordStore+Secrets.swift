extension RecordStore {
    /// A secret of this database, kept from the first time on.
    ///
    /// - Parameter fresh: what it is if there is none yet; of two servers that ask at once, both get
    ///   that of one.
    public func secret(_ name: String, orElse fresh: [UInt8]) async throws -> [UInt8] {
        let read = "SELECT value FROM meta WHERE name = $1"
        if let kept = try await driver.readNow(read, [.text(name)]).first {
            return try kept.bytes(0)
        }
        return try await driver.write { connection in
            try connection.execute(
                "INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING",
                [.text(name), .blob(fresh)]
            )
            return try connection.query(read, [.text(name)]).first?.bytes(0) ?? fresh
        }
    }
}
