import AppStoreConnector
import CommandOutput
import ArgumentParser
import Foundation
import TollgateCore
import TollgateService

/// By how much renewal dates are extended, and why.
struct ExtensionOptionGroup: ParsableArguments {
    @Option(help: "The number of days, 1 to 90.")
    var days: Int

    @Option(help: "satisfaction, outage, other or undeclared.")
    var reason = "undeclared"

    @Option(
        help: """
            Names the request, at most 128 characters; a new one if left out. With extend-all the App \
            Store recognises a repetition by it. A repeated extend extends once more.
            """
    )
    var requestIdentifier: String?

    func validate() throws {
        guard (1...90).contains(days) else { throw ValidationError("--days is 1 to 90.") }
        guard AppStoreSupport.Reason(rawValue: reason) != nil else {
            throw ValidationError("--reason is satisfaction, outage, other or undeclared.")
        }
        guard (1...128).contains(requestIdentifier?.count ?? 1) else {
            throw ValidationError("--request-identifier has at most 128 characters.")
        }
    }

    var wish: AppStoreSupport.Extension {
        AppStoreSupport.Extension(
            days: days,
            reason: AppStoreSupport.Reason(rawValue: reason) ?? .undeclared,
            requestIdentifier: requestIdentifier ?? UUID().uuidString.lowercased()
        )
    }
}

/// `tollgate app-store extend ORIGINAL_TRANSACTION --days N`.
struct ExtendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "extend",
        abstract: "Extend the renewal date of one subscription; it cannot be undone.",
        discussion: "At most twice a year for a customer."
    )

    @Argument(help: "The subscription's original transaction id.")
    var transaction: String

    @OptionGroup var extend: ExtensionOptionGroup
    @OptionGroup var options: AppStoreOptionGroup
    @OptionGroup var audit: AuditOptionGroup

    private struct Answer: Encodable {
        var originalTransactionID: String
        var effectiveDate: Int64?

        enum CodingKeys: String, CodingKey {
            case originalTransactionID = "original_transaction_id"
            case effectiveDate = "effective_date"
        }
    }

    func run() async throws {
        let wish = extend.wish
        let deed = Deed(
            "app_store.extend",
            "transaction:\(transaction)",
            "\(wish.days) days, request \(wish.requestIdentifier)"
        )
        let date = try await audit.change(deed, options) {
            try await $0.extend(transaction, by: wish, in: $1)
        }
        if options.json {
            return try Terminal.sayJSON(
                Answer(originalTransactionID: transaction, effectiveDate: date?.milliseconds)
            )
        }
        Terminal.say("\(transaction): renews \(date.map { "\($0)" } ?? "later")")
    }
}

/// `tollgate app-store extend-all PRODUCT --days N`.
struct ExtendAllCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "extend-all",
        abstract: "Extend the renewal date of all active subscribers of a product.",
        discussion: """
            It cannot be undone. The App Store works on it for a while: `tollgate app-store \
            extension-status PRODUCT REQUEST` tells how far it is.
            """
    )

    @Argument(help: "The product's id in App Store Connect.")
    var product: String

    @Option(help: "Only this storefront, such as USA; may be repeated.")
    var storefront: [String] = []

    @OptionGroup var extend: ExtensionOptionGroup
    @OptionGroup var options: AppStoreOptionGroup
    @OptionGroup var audit: AuditOptionGroup

    private struct Answer: Encodable {
        var requestIdentifier: String

        enum CodingKeys: String, CodingKey {
            case requestIdentifier = "request_identifier"
        }
    }

    func run() async throws {
        let wish = extend.wish
        let deed = Deed(
            "app_store.extend_all",
            "product:\(product)",
            "\(wish.days) days \(storefront.joined(separator: " ")), request \(wish.requestIdentifier)"
        )
        let request = try await audit.change(deed, options) {
            try await $0.extendAll(of: product, by: wish, storefronts: storefront, in: $1)
        }
        if options.json { return try Terminal.sayJSON(Answer(requestIdentifier: request)) }
        Terminal.say("\(product): requested as \(request)")
    }
}

/// `tollgate app-store extension-status PRODUCT REQUEST`.
struct ExtensionStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "extension-status",
        abstract: "Print the progress of an extension of all subscribers."
    )

    @Argument(help: "The product's id in App Store Connect.")
    var product: String

    @Argument(help: "The request's identifier, as `extend-all` printed it.")
    var request: String

    @OptionGroup var options: AppStoreOptionGroup

    private struct Answer: Encodable {
        var complete: Bool
        var completeDate: Int64?
        var succeededCount: Int64?
        var failedCount: Int64?

        enum CodingKeys: String, CodingKey {
            case complete
            case completeDate = "complete_date"
            case succeededCount = "succeeded_count"
            case failedCount = "failed_count"
        }
    }

    func run() async throws {
        let status = try await AppStoreConnection.run(options) {
            try await $0.support().statusOfExtension(request, of: product, in: $0.environment)
        }
        let answer = Answer(
            complete: status.isComplete,
            completeDate: status.completed?.milliseconds,
            succeededCount: status.isComplete ? status.succeeded : nil,
            failedCount: status.isComplete ? status.failed : nil
        )
        if options.json { return try Terminal.sayJSON(answer) }
        guard status.isComplete else { return Terminal.say("under way") }
        Terminal.say("complete: \(status.succeeded) extended, \(status.failed) not")
    }
}
