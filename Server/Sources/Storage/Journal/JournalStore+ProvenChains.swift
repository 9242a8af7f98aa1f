extension JournalStore {
    private static let name = "proven_chains"
    /// The size of a SHA-256 digest in bytes.
    private static let size = 32
    private static let most = 64

    /// The digests of certificate chains that a server of this database has proven, newest first.
    public func provenChains() async throws -> [[UInt8]] {
        let rows = try await driver.readNow(
            "SELECT value FROM meta WHERE name = $1",
            [.text(Self.name)]
        )
        return try rows.first.map { Self.digests(in: try $0.bytes(0)) } ?? []
    }

    /// Keeps `digests`, and after them those that are kept already, 64 at most.
    public func keepProvenChains(_ digests: [[UInt8]]) async throws {
        try await driver.write { connection in
            let rows = try connection.query(
                "SELECT value FROM meta WHERE name = $1 \(connection.dialect.rowLock)",
                [.text(Self.name)]
            )
            let kept = try rows.first.map { Self.digests(in: try $0.bytes(0)) } ?? []
            let all = digests + kept.filter { !digests.contains($0) }
            try connection.execute(
                """
                INSERT INTO meta (name, value) VALUES ($1, $2)
                ON CONFLICT (name) DO UPDATE SET value = excluded.value
                """,
                [.text(Self.name), .blob(Array(all.prefix(Self.most).joined()))]
            )
        }
    }

    private static func digests(in bytes: [UInt8]) -> [[UInt8]] {
        stride(from: 0, to: bytes.count - size + 1, by: size).map {
            Array(bytes[$0..<($0 + size)])
        }
    }
}
