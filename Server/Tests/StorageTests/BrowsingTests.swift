import Storage
import Testing
import TollgateSimulation

@Suite("Browsing")
struct BrowsingTests {
    @Test("No page reads a whole table, however large it grows", arguments: Backend.allCases)
    func usesIndexes(_ backend: Backend) async throws {
        let driver = try await backend.open()
        for (sql, parameters) in BrowsingSQL.all {
            let plan = try await driver.write { connection in
                switch backend {
                case .sqlite:
                    return try connection.query("EXPLAIN QUERY PLAN \(sql)", parameters)
                        .map { try $0.text(3) }
                case .postgres:
                    // A small table is read whole for good reasons; what is left is what must be.
                    try connection.execute("SET LOCAL enable_seqscan = off")
                    try connection.execute("SET LOCAL enable_bitmapscan = off")
                    return try connection.query("EXPLAIN \(sql)", parameters)
                        .map { try $0.text(0) }
                }
            }
            for step in plan {
                #expect(!step.contains("Seq Scan"), "\(sql): \(step)")
                // A subquery's result is read whole, and a page's order may be an index's.
                let isScan = step.hasPrefix("SCAN") && !step.contains("USING")
                #expect(!isScan || step.contains("waiting"), "\(sql): \(step)")
                #expect(
                    !step.contains("USE TEMP B-TREE FOR ORDER BY") || sql.contains("holding")
                        || sql.contains("transfer"),
                    "\(sql): \(step)"
                )
                #expect(!step.hasPrefix("Sort") || sql.contains("transfer"), "\(sql): \(step)")
            }
        }
        await driver.close()
    }
}
