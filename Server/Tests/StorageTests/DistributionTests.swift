import Storage
import Testing
import TollgateSimulation

@testable import StoragePostgres

@Suite("Tables that can be spread over machines")
struct DistributionTests {
    @Test("Every unique key of such a table names the column by which it is spread")
    func keys() async throws {
        let driver = try await Backend.postgres.open()
        for table in Distribution.tables {
            let (all, wrong) = try await driver.write { connection in
                for statement in table.keys { try connection.define(statement) }
                let keys = """
                    SELECT CAST(CAST(indexrelid AS regclass) AS text) FROM pg_index
                    WHERE indrelid = CAST($1 AS regclass) AND indisunique
                    """
                let spread = """
                    (SELECT attnum FROM pg_attribute WHERE attrelid = indrelid AND attname = $2)
                    = ANY (CAST(indkey AS smallint[]))
                    """
                return (
                    try connection.query(keys, [.text(table.name)]),
                    try connection.query(
                        "\(keys) AND NOT \(spread)",
                        [.text(table.name), .text(table.column)]
                    )
                )
            }
            #expect(!all.isEmpty, "\(table.name)")
            #expect(wrong == [], "\(table.name)")
        }
        await driver.close()
    }

    @Test("A database without Citus is refused", arguments: Backend.allCases)
    func refusals(_ backend: Backend) async throws {
        let driver = try await backend.open()
        let error = await #expect(throws: DistributionRefused.self) {
            try await Distribution(of: driver).distribute(shards: 4)
        }
        switch (backend, error) {
        case (.sqlite, .notPostgres), (.postgres, .noExtension): break
        default: Issue.record("\(backend): \(error.map { "\($0)" } ?? "not refused")")
        }
        let journal = try await driver.readNow("SELECT count(*) FROM journal", [])
        #expect(journal == [Row([.integer(0)])])
        await driver.close()
    }

    @Test("Rows share an INSERT whose end names none of a row's own values")
    func shared() throws {
        let insert = try #require(
            OneRowInsert("INSERT INTO t (a, b, c) VALUES ($1, 0, $2) ON CONFLICT (a) DO NOTHING")
        )
        #expect(insert.table == "t")
        #expect(
            insert.statement(rows: 2, width: 2)
                == "INSERT INTO t (a, b, c) VALUES ($1, 0, $2), ($3, 0, $4) ON CONFLICT (a) DO NOTHING"
        )
        #expect(
            insert.withID()?.statement(rows: 1, width: 3)
                == "INSERT INTO t (a, b, c, id) VALUES ($1, 0, $2, $3) ON CONFLICT (a) DO NOTHING"
        )
        #expect(
            OneRowInsert("INSERT INTO t (a) VALUES ($1) ON CONFLICT (a) DO UPDATE SET a = $1")
                == nil
        )
        #expect(OneRowInsert("INSERT INTO t (a) VALUES ((SELECT 1))") == nil)
        #expect(OneRowInsert("DELETE FROM t WHERE a = $1") == nil)
    }

    @Test("Rows share an UPDATE; what is null in all of them is written as such")
    func sharedUpdate() throws {
        let update = try #require(OneRowUpdate("UPDATE t SET a = $1, b = $2 WHERE id = $3"))
        #expect(update.table == "t")
        #expect(
            update.statement(rows: 2, isGiven: [true, false, true]).split(
                whereSeparator: \.isWhitespace
            )
            .joined(separator: " ")
                == "UPDATE t SET a = v.p1, b = NULL FROM (VALUES ($1, $2), ($3, $4)) AS v (p1, p3) "
                + "WHERE id = v.p3"
        )
        #expect(OneRowUpdate("DELETE FROM t WHERE a = $1") == nil)
    }
}
