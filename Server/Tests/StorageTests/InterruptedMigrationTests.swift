import Storage
import Testing
import TollgateSimulation
import TollgateTesting

/// F18 and F6: a migration that is interrupted half-way.
@Suite("F18: a migration interrupted at every statement")
struct InterruptedMigrationTests {
    /// Every table, column and index.
    private static func schema(of driver: any StorageDriver) async throws -> [Row] {
        try await driver.read { connection in
            switch connection.dialect {
            case .sqlite:
                try connection.query(
                    "SELECT type, name, coalesce(sql, '') FROM sqlite_schema ORDER BY type, name"
                )
            default:
                try connection.query(
                    """
                    SELECT table_name::text, column_name::text, data_type::text, is_nullable::text
                    FROM information_schema.columns WHERE table_schema = 'public'
                    UNION ALL
                    SELECT tablename::text, indexname::text, indexdef::text, ''
                    FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1, 2
                    """
                )
            }
        }
    }

    @Test(
        "Whatever was interrupted, the next start makes the same schema",
        arguments: Backend.allCases
    )
    func everyStatement(_ backend: Backend) async throws {
        let fresh = try await backend.open()
        let wanted = try await Self.schema(of: fresh)
        await fresh.close()
        var step = 0
        var isDone = false
        while !isDone {
            step += 1
            // One database for each place; PostgreSQL makes them more slowly.
            let stride = backend == .postgres ? 4 : 1
            guard step == 1 || step.isMultiple(of: stride) else { continue }
            let database = try backend.makeDatabase()
            let driver = InterruptedDriver(try database.open())
            driver.fail(at: step)
            do {
                try await driver.migrate()
                isDone = driver.steps < step
                #expect(isDone, "a fault that nobody noticed")
            } catch let error as StorageError {
                #expect(error.isRetryable)
            }
            await driver.close()
            let again = try database.open()
            #expect(try await again.migrate() == Schema.migrations.count)
            #expect(try await Self.schema(of: again) == wanted, "step \(step)")
            await again.close()
        }
        #expect(step > Schema.migrations.flatMap(\.statements).count)
    }
}
