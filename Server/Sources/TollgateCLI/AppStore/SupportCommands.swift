import AppStoreConnector
import CommandOutput
import ArgumentParser
import TollgateCore
import TollgateService

/// A transaction as commands print it.
struct PrintedTransaction: Encodable {
    private let transaction: AppStoreSupport.Transaction

    enum CodingKeys: String, CodingKey {
        case price, currency
        case transactionID = "transaction_id"
        case originalTransactionID = "original_transaction_id"
        case productID = "product_id"
        case purchaseDate = "purchase_date"
        case revocationDate = "revocation_date"
        case revocationType = "revocation_type"
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(transaction.transactionID, forKey: .transactionID)
        try values.encode(transaction.originalTransactionID, forKey: .originalTransactionID)
        try values.encode(transaction.productID, forKey: .productID)
        try values.encodeIfPresent(transaction.purchased?.milliseconds, forKey: .purchaseDate)
        try values.encodeIfPresent(transaction.revoked?.milliseconds, forKey: .revocationDate)
        try values.encodeIfPresent(transaction.revocationType, forKey: .revocationType)
        try values.encodeIfPresent(transaction.price, forKey: .price)
        try values.encodeIfPresent(transaction.currency, forKey: .currency)
    }

    private var line: String {
        var words = [
            transaction.purchased.map { "\($0)" }, transaction.transactionID,
            transaction.productID,
        ].compactMap { $0 }
        if let revoked = transaction.revoked {
            words.append("revoked \(revoked)")
            words += transaction.revocationType.map { [$0] } ?? []
        }
        return words.joined(separator: "  ")
    }

    static func say(_ transactions: [AppStoreSupport.Transaction], json: Bool) throws {
        let printed = transactions.map { Self(transaction: $0) }
        if json { return try Terminal.sayJSON(printed) }
        for transaction in printed { Terminal.say(transaction.line) }
    }
}

/// `tollgate app-store refunds TRANSACTION`.
struct RefundsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refunds",
        abstract: "List a customer's refunded or revoked transactions.",
        discussion: "Get Refund History, by any transaction id of the customer."
    )

    @Argument(help: "Any transaction id of the customer.")
    var transaction: String

    @OptionGroup var options: AppStoreOptionGroup

    func run() async throws {
        let refunds = try await AppStoreConnection.run(options) {
            try await $0.support().refunds(of: transaction, in: $0.environment)
        }
        if refunds.isEmpty, !options.json { return Terminal.say("Nothing was refunded.") }
        try PrintedTransaction.say(refunds, json: options.json)
    }
}

/// `tollgate app-store order ORDER`.
struct OrderCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "order",
        abstract: "List the transactions of the order in a customer's receipt by e-mail.",
        discussion: "Look Up Order ID. The App Store answers it in production only."
    )

    @Argument(help: "The order's id, such as MXXXXXXXXX.")
    var order: String

    @Option(help: "The app, by its id in the catalog; the first one there if left out.")
    var app: String?

    @Flag(help: "Answer in JSON.")
    var json = false

    func run() async throws {
        let transactions = try await AppStoreConnection.run(environment: "production", app: app) {
            try await $0.support().order(order)
        }
        guard let transactions else {
            throw CheckFailed(message: "\(order) is no order of this app's.")
        }
        try PrintedTransaction.say(transactions, json: json)
    }
}

/// `tollgate app-store finish TRANSACTION`.
struct FinishCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "finish",
        abstract: "Finish a transaction that the app cannot finish."
    )

    @Argument(help: "The transaction's id.")
    var transaction: String

    @OptionGroup var options: AppStoreOptionGroup
    @OptionGroup var audit: AuditOptionGroup

    func run() async throws {
        try await audit.change(Deed("app_store.finish", "transaction:\(transaction)"), options) {
            try await $0.finish(transaction, in: $1)
        }
        try AppStoreDone(done: "finished", subject: transaction).say(json: options.json)
    }
}

/// `tollgate app-store set-token ORIGINAL_TRANSACTION UUID`.
struct SetTokenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set-token",
        abstract: "Set the app account token of a purchase from outside the app.",
        discussion: "For the current period and later ones; it replaces an existing token."
    )

    @Argument(help: "The purchase's original transaction id.")
    var transaction: String

    @Argument(help: "The customer's app account token, a UUID.")
    var token: String

    @OptionGroup var options: AppStoreOptionGroup
    @OptionGroup var audit: AuditOptionGroup

    func run() async throws {
        try await AppStoreConnection.run(options) { connection in
            let support = try connection.support()
            let token = try AppStoreSupport.appAccountToken(token)
            try await audit.run(Deed("app_store.set_token", "transaction:\(transaction)")) {
                try await support
                    .setAppAccountToken(token, of: transaction, in: connection.environment)
            }
        }
        try AppStoreDone(done: "token set", subject: transaction).say(json: options.json)
    }
}

/// The output of a command that has changed something at the App Store.
struct AppStoreDone: Encodable {
    var done: String
    var subject: String

    func say(json: Bool) throws {
        if json { return try Terminal.sayJSON(self) }
        Terminal.say("\(subject): \(done)")
    }
}
