public import AppStoreAPI
internal import Foundation
internal import Storage
public import Stores
public import TollgateAPI
public import TollgateCore

/// Brings in what the customers of another system bought, by a file of their receipts or of any
/// transaction id of theirs.
///
/// One customer a line: `{"app_user_id":"…","receipt_data":"…"}`, or with `transaction_id`. Lines of
/// CSV are `app_user_id,receipt_data`, or as a first line names their columns.
/// It goes on where it was broken off: its place is in the database, under the file's name.
public struct ReceiptImport: Sendable {
    /// What an import came to.
    public struct Report: Hashable, Codable, Sendable {
        /// Customers of whom something was found.
        public var customers = 0
        /// Purchases that they hold.
        public var purchases = 0
        /// Statements that were new to the journal.
        public var new = 0
        public var unmatched: [UnmatchedLine] = []
        public var unmatchedNotListed = 0

        package init() {}

        enum CodingKeys: String, CodingKey {
            case customers, purchases, new, unmatched
            case unmatchedNotListed = "unmatched_not_listed"
        }
    }

    /// What became of one customer's receipt or transaction.
    public enum Outcome: Sendable {
        /// The purchases that they hold, by their original transaction ids.
        case found(purchases: Set<String>, new: Int)
        /// The App Store shows nothing but consumables, which whoever sold them has credited.
        case nothingLasts
        /// The reason for which it led to nothing.
        case unmatched(String)
        /// The App Store failed over this customer.
        case failed(AppStore.ServerAPIError)
    }

    private let receipts: AppStoreReceipts
    package let name: String
    private let register: @Sendable (API.CreateCustomerRequest) async throws -> API.Customer
    package var context: StoreContext { receipts.context }

    /// - Parameters:
    ///   - file: names the file across runs: a hash of its content, say.
    ///   - register: makes a customer known, or finds them.
    public init(
        _ receipts: AppStoreReceipts,
        file: String,
        register: @escaping @Sendable (API.CreateCustomerRequest) async throws -> API.Customer
    ) {
        self.receipts = receipts
        name = "import/receipts/\(file)"
        self.register = register
    }

    private func take(
        receipt: String,
        of request: API.CreateCustomerRequest
    ) async throws -> Outcome {
        try await judged {
            let customer = try await register(request)
            let reply = try await receipts.receive(
                receipt,
                from: Customer.ID(customer.id),
                mode: .observed,
                isTrusted: true,
                leavesConsumables: true
            )
            guard !reply.purchases.isEmpty else { return .nothingLasts }
            return .found(purchases: Set(reply.purchases), new: reply.new)
        }
    }

    /// Brings in the full history of a customer, without consumables, by any transaction of theirs.
    ///
    /// - Parameters:
    ///   - id: the transaction's id, or that of the original transaction.
    ///   - request: names the customer.
    ///   - bundleID: the app; `nil` asks each app of this server.
    ///   - environment: `nil` asks production first.
    ///   - required: an original transaction id that must become theirs, where the App Store shows it.
    ///   - isClaimed: whether a purchase becomes theirs, by its original transaction id.
    /// - Throws: what breaks an import off: something is out of order here or at the App Store.
    public func take(
        transaction id: String,
        of request: API.CreateCustomerRequest,
        bundleID: String? = nil,
        in environment: StoreEnvironment? = nil,
        requiring required: String? = nil,
        claiming isClaimed: (String, StoreEnvironment) -> Bool = { _, _ in true }
    ) async throws -> Outcome {
        guard ReceiptImportLine.isTransactionID(id) else {
            return .unmatched("‘\(id.prefix(24))’ is no transaction id; they are digits")
        }
        return try await judged {
            let customer = Customer.ID(try await register(request).id)
            guard
                let read = try await receipts.receive(
                    transaction: id,
                    from: customer,
                    of: bundleID,
                    in: environment,
                    covering: { isClaimed($0.id, $0.environment) }
                )
            else {
                return .unmatched(
                    "the App Store knows no transaction ‘\(id)’ in the apps of this server; compare the id, the bundle id and the environment"
                )
            }
            guard !read.purchases.isEmpty else { return .nothingLasts }
            var held: Set<String> = []
            for key in read.purchases where try await context.records.holds(customer, key) {
                held.insert(key.id)
            }
            // An import takes nothing from anybody.
            let isShown = read.purchases.contains { $0.id == required }
            guard let one = isShown ? required : held.first, held.contains(one) else {
                return .unmatched(
                    "the purchase is in the record and belongs to another customer; assign it in the dashboard if that is wrong"
                )
            }
            return .found(purchases: held, new: read.news)
        }
    }

    /// Tells what is wrong with one customer's line from what breaks the run off.
    // Swift 6.3.1's optimiser ends with an ownership error on this function.
    @_optimize(none)
    private func judged(_ work: () async throws -> Outcome) async throws -> Outcome {
        do {
            return try await work()
        } catch let refusal as Refusal {
            // What is out of order here or at the store breaks the run off; a bad line does not.
            guard refusal.status < 500 else { throw refusal }
            return .unmatched(refusal.error.message)
        } catch let error as AppStore.ReceiptError {
            guard !error.isRetryable, error.status != .wrongSharedSecret else { throw error }
            return .unmatched("\(error)")
        } catch let error as AppStore.VerificationError {
            guard !error.isRetryable else { throw error }
            return .unmatched("\(error)")
        } catch let error as AppStore.ServerAPIError {
            if error.meaning == .fault { return .failed(error) }
            guard !error.isRetryable, !error.isForbidden else { throw error }
            return .unmatched("\(error)")
        }
    }
}

extension ReceiptImport: LineImport {
    package static var step: String { "customers" }

    /// - Throws: the App Store's error where it failed over a whole batch. Failing over some lines, it
    ///   may fail over them for ever.
    package static func requireAnswers(_ outcomes: [Report.Line]) throws {
        guard outcomes.count == width else { return }
        var failure: AppStore.ServerAPIError?
        for line in outcomes {
            guard case .failed(let error) = line.outcome else { return }
            failure = error
        }
        if let failure { throw failure }
    }

    package func take(_ line: ImportLine<ReceiptImportLine.Column>) async throws -> Report.Line {
        let line = try ReceiptImportLine(line)
        var request = API.CreateCustomerRequest(appUserID: line.appUserID)
        request.appAccountToken = line.appAccountToken
        switch line.subject {
        case .receipt(let data):
            let outcome = try await take(receipt: data, of: request)
            return Report.Line(line.appUserID, isReceipt: true, outcome)
        case .transaction(let id):
            let outcome = try await take(transaction: id, of: request, bundleID: line.bundleID)
            return Report.Line(line.appUserID, isReceipt: false, outcome)
        }
    }
}

extension ReceiptImport.Report: ImportReport {
    /// A customer's line, and what became of it.
    package struct Line: Sendable {
        var appUserID: String
        var isReceipt: Bool
        var outcome: ReceiptImport.Outcome

        init(_ user: String, isReceipt: Bool, _ outcome: ReceiptImport.Outcome) {
            (appUserID, self.isReceipt, self.outcome) = (user, isReceipt, outcome)
        }
    }

    package mutating func add(_ done: Line, of line: Int) {
        func add(_ reason: String) {
            self.add(UnmatchedLine(line: line, appUserID: done.appUserID, reason: reason))
        }
        switch done.outcome {
        case .found(let purchases, let new):
            customers += 1
            self.purchases += purchases.count
            self.new += new
        case .nothingLasts where done.isReceipt: add("the receipt holds no purchase")
        case .nothingLasts:
            add("the App Store shows only consumables of this customer; leave the line out")
        case .unmatched(let reason): add(reason)
        case .failed(let error): add("\(error); import this line again later")
        }
    }
}
