import CommandOutput
import AppStoreAPI
import ArgumentParser
import Foundation
import TollgateCore
import TollgateService

/// `tollgate app-store retention default PRODUCT LOCALE`.
struct DefaultMessageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "default",
        abstract: "Show, set or delete the default message for a product in a language.",
        discussion: "The App Store shows it if no endpoint of yours answers in time."
    )

    @Argument(help: "The product's id in App Store Connect.")
    var product: String

    @Argument(help: "The language, such as en-US.")
    var locale: String

    @Option(help: "The identifier of the message that becomes the default.")
    var set: String?

    @Flag(help: "Have none.")
    var delete = false

    @OptionGroup var options: AppStoreOptionGroup
    @OptionGroup var audit: AuditOptionGroup

    func validate() throws {
        guard set == nil || !delete else { throw ValidationError("--set or --delete, not both.") }
    }

    func run() async throws {
        let wanted = try set.map(RetentionCommand.identifier)
        let shown = try await AppStoreConnection.run(options) {
            connection in
            let server = connection.server
            let message = wanted.map { "message:\($0.uuidString.lowercased())" } ?? "none"
            let deed = Deed(
                "app_store.default_message",
                "product:\(product)",
                "\(locale), \(message)"
            )
            if let wanted {
                try await audit.run(deed) {
                    try await server.configureDefaultMessage(
                        wanted,
                        productID: product,
                        locale: locale
                    )
                }
                return wanted as UUID?
            }
            guard delete else {
                return try await server.defaultMessage(productID: product, locale: locale)
            }
            try await audit.run(deed) {
                try await server.deleteDefaultMessage(productID: product, locale: locale)
            }
            return nil
        }
        guard let shown else {
            let place = "\(product) \(locale)"
            return try AppStoreDone(done: "no default", subject: place).say(json: options.json)
        }
        try RetentionCommand.Upload.say([.init(id: shown)], json: options.json)
    }
}

/// `tollgate app-store retention url`.
struct RealtimeURLCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "url",
        abstract: "Show, set or delete the address that the App Store asks for a message.",
        discussion: """
            It is https://YOUR-SERVER/webhooks/app_store/retention_message. Production takes it once \
            a performance test in the sandbox has passed.
            """
    )

    @Option(help: "The address.")
    var set: String?

    @Flag(help: "Have none.")
    var delete = false

    @OptionGroup var options: AppStoreOptionGroup
    @OptionGroup var audit: AuditOptionGroup

    private struct Answer: Encodable {
        var url: String?
    }

    func validate() throws {
        guard set == nil || !delete else { throw ValidationError("--set or --delete, not both.") }
    }

    func run() async throws {
        let url = try await AppStoreConnection.run(options) {
            connection in
            let (server, subject) = (connection.server, "app_store:\(connection.environment)")
            if let set {
                try await audit.run(Deed("app_store.retention_url", subject, set)) {
                    try await server.configureRealtimeURL(set)
                }
            }
            guard delete else { return try await server.realtimeURL() as String? }
            try await audit.run(Deed("app_store.retention_url", subject, "none")) {
                try await server.deleteRealtimeURL()
            }
            return nil
        }
        if options.json { return try Terminal.sayJSON(Answer(url: url)) }
        Terminal.say(url ?? "no address")
    }
}

/// `tollgate app-store retention test ORIGINAL_TRANSACTION`.
struct PerformanceTestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Have Apple's sandbox test how fast this server answers, and print the result."
    )

    @Argument(help: "The original transaction id of a subscription in the sandbox.")
    var transaction: String

    @Option(help: "How many seconds to wait for the results.")
    var timeout = 600

    @Option(help: "The app, by its id in the catalog; the first one there if left out.")
    var app: String?

    @Flag(help: "Answer in JSON.")
    var json = false

    @OptionGroup var audit: AuditOptionGroup

    private struct Answer: Encodable {
        var requestID: String
        var result: String?
        var target: String?
        var successRate: Int64?
        var pending: Int64?
        var p50: Int64?
        var p99: Int64?
        var failures: [String: Int64]

        enum CodingKeys: String, CodingKey {
            case result, target, pending, p50, p99, failures
            case requestID = "request_id"
            case successRate = "success_rate"
        }
    }

    func run() async throws {
        let answer = try await AppStoreConnection.run(
            environment: "sandbox",
            app: app
        ) { connection in
            let test = try await audit.run(
                Deed("app_store.retention_test", "transaction:\(transaction)")
            ) {
                try await connection.server.initiatePerformanceTest(
                    originalTransactionID: transaction
                )
            }
            var second = 0
            while true {
                let result = try await connection.server.performanceTestResult(test.requestID)
                if result.result != "PENDING" || second >= timeout {
                    return Answer(
                        requestID: test.requestID,
                        result: result.result,
                        target: result.target,
                        successRate: result.successRate,
                        pending: result.pendingCount,
                        p50: result.responseTimes?.p50,
                        p99: result.responseTimes?.p99,
                        failures: result.failures
                    )
                }
                try await Task.sleep(for: .seconds(1))
                second += 1
            }
        }
        if json {
            try Terminal.sayJSON(answer)
        } else {
            Terminal.say(
                "\(answer.result ?? "no result"): \(answer.successRate ?? 0) % of \(answer.target ?? "") in time, half within \(answer.p50 ?? 0) ms, 99 % within \(answer.p99 ?? 0) ms"
            )
            for (reason, count) in answer.failures.sorted(by: { $0.key < $1.key }) {
                Terminal.say("\(reason): \(count)")
            }
        }
        guard answer.result == "PASS" else { throw CheckFailed(message: "It has not passed.") }
    }
}
