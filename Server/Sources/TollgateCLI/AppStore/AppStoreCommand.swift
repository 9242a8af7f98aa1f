import CommandOutput
import AppStoreAPI
import ArgumentParser
import TollgateCore

/// `tollgate app-store`: talks to the App Store as the server would.
struct AppStoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app-store",
        abstract: "Ask the App Store, and change things there.",
        subcommands: [
            TestNotificationCommand.self, RefundsCommand.self, OrderCommand.self,
            ExtendCommand.self, ExtendAllCommand.self, ExtensionStatusCommand.self,
            FinishCommand.self, SetTokenCommand.self, GroupsCommand.self, SeatsCommand.self,
            RetentionCommand.self,
        ]
    )
}

/// `tollgate app-store test-notification`: whether notifications arrive.
struct TestNotificationCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test-notification",
        abstract: "Have the App Store send a test notification, and print the result."
    )

    @OptionGroup var options: AppStoreOptionGroup

    @Option(help: "How many seconds to wait for the first attempt.")
    var timeout = 60

    func validate() throws {
        guard (1...3600).contains(timeout) else {
            throw ValidationError("--timeout is 1 to 3600 seconds.")
        }
    }

    func run() async throws {
        try await AppStoreConnection.run(options) {
            try await run($0.server, $0.environment)
        }
    }

    private func run(
        _ server: AppStore.ServerAPIClient,
        _ environment: StoreEnvironment
    ) async throws {
        let token = try await server.requestTestNotification()
        if !options.json { Terminal.say("\(environment.rawValue): requested as \(token)") }
        guard let status = try await wait(for: token, server) else {
            throw CheckFailed(
                message:
                    "After \(timeout) seconds the App Store has not tried to deliver it. Ask again later."
            )
        }
        let attempts = status.sendAttempts.map(Attempt.init)
        if options.json {
            try Terminal.sayJSON(Result(environment: environment, token: token, attempts: attempts))
        } else {
            for attempt in attempts {
                let date = attempt.attemptDate.map { "\(Instant(milliseconds: $0))  " } ?? ""
                Terminal.say("\(date)\(attempt.sendAttemptResult ?? "no result")")
            }
        }
        guard status.sendAttempts.contains(where: { $0.sendAttemptResult == .success }) else {
            throw CheckFailed(message: "It was not delivered.")
        }
    }

    /// Asks once a second until there is an attempt; `nil` where none came in time.
    private func wait(
        for token: String,
        _ server: AppStore.ServerAPIClient
    ) async throws -> AppStore.NotificationHistoryResponse.Item? {
        for second in 0..<timeout {
            if second > 0 { try await Task.sleep(for: .seconds(1)) }
            do {
                let status = try await server.testNotificationStatus(token)
                if !status.sendAttempts.isEmpty { return status }
            } catch {
                guard case .refused(let refusal) = error.cause,
                    refusal.code == .testNotificationNotFound
                else { throw error }
            }
        }
        return nil
    }

    private struct Attempt: Encodable {
        var attemptDate: Int64?
        var sendAttemptResult: String?

        init(_ attempt: AppStore.SendAttempt) {
            attemptDate = attempt.attemptDate
            sendAttemptResult = attempt.sendAttemptResult?.rawValue
        }
    }

    private struct Result: Encodable {
        var environment: StoreEnvironment
        var token: String
        var attempts: [Attempt]

        enum CodingKeys: String, CodingKey {
            case environment, token
            case attempts = "send_attempts"
        }
    }
}
