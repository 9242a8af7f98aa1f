// SPDX-License-Identifier: Apache-2.0
import AsyncHTTPClient
import TollgateService

/// The checks behind `tollgate doctor`, the dashboard's page **Doctor** and a server's alarms.
enum Doctor {
    /// - Parameters:
    ///   - settings: those of the moment at which something is asked.
    ///   - client: follows no redirection, as the stores follow none.
    static func checkUp(
        _ settings: @escaping @Sendable () -> ServeSettings,
        over client: HTTPClient,
        _ database: DoctorDatabase
    ) -> CheckUp {
        CheckUp([
            .init("machine") {
                await MachineChecks(settings: settings(), database: database).all(over: client)
            },
            .init("heard") { await HeardChecks(settings: settings(), database: database).all() },
            .init("figures") {
                await FigureChecks(settings: settings(), database: database).all(over: client)
            },
            .init("emails") { await EmailChecks(settings: settings()).all(over: client) },
            .init("app_store") { await AppStoreChecks(settings: settings()).all(over: client) },
            .init("stripe") { await StripeChecks(settings: settings()).all(over: client) },
            .init("google_play") { await GooglePlayChecks(settings: settings()).all(over: client) },
        ])
    }
}
