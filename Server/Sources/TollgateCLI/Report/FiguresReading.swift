import ArgumentParser
import AsyncHTTPClient
import Foundation
import Logging
import Storage
import Stores
import TollgateAssembly
import TollgateCore
import TollgateService

/// The application for commands about figures: where no server has the database, they are brought up
/// to date first; beside one they are as new as the server has made them.
enum FiguresReading {
    static func run<Result: Sendable>(
        database: String?,
        json: Bool,
        _ work: (Tollgate) async throws -> Result
    ) async throws -> Result {
        let location = try DatabaseLocation(option: database)
        return try await HTTPClient.forCommand { client in
            let (driver, store) = try await open(location, json: json)
            return try await driver.closing {
                try await work(try await application(store, over: client))
            }
        }
    }

    private static func open(
        _ location: DatabaseLocation,
        json: Bool
    ) async throws -> (any StorageDriver, RecordStore) {
        // A wrong path must not make a new database.
        let probe = try location.openReadOnly()
        do {
            _ = try await RecordStore(reading: probe)
        } catch {
            await probe.close()
            throw error
        }
        do {
            let driver = try location.open()
            do {
                let store = try await RecordStore(driver)
                let line = ProgressLine(json: json)
                try await FigureDerivation(store, rows: Tollgate.storeRows).followToTheEnd(
                    now: SystemClock.now()
                ) {
                    line.report(WorkProgress(step: "messages", done: Int($0), of: Int($1)))
                }
                line.end()
                await probe.close()
                return (driver, store)
            } catch {
                await driver.close()
                throw error
            }
        } catch let error as StorageError where error.kind == .inUse {
            return (probe, try await RecordStore(reading: probe))
        }
    }

    private static func application(
        _ store: RecordStore,
        over client: HTTPClient
    ) async throws -> Tollgate {
        let stores = try StoreSettings(nil)
        var configuration = Configuration(bySettings: stores)
        if configuration.secretKey.isEmpty, stores.environments.count != 1 {
            configuration.reportedEnvironment = nil
        }
        let clock = try ClockSetting(Settings.text(nil, "CLOCK"))
        return Tollgate(
            configuration: configuration,
            store: store,
            stores: StoreConnections(appStoreOptions: stores.appStoreOptions(over: client)),
            clocks: .init(
                now: try await clock.reached(over: client),
                wall: SystemClock.now,
                isVirtual: clock.isVirtual
            ),
            signer: AnswerSigner(),
            logger: Logger(label: "tollgate") { StreamLogHandler.standardError(label: $0) }
        )
    }
}
