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
    /// A line that led to nothing.
    public struct Unmatched: Hashable, Codable, Sendable {
        /// From 1.
        public var line: Int
        public var appUserID: String?
        public var reason: String

        enum CodingKeys: String, CodingKey {
            case line, reason
            case appUserID = "app_user_id"
        }
    }

    /// What an import came to.
    public struct Report: Hashable, Codable, Sendable {
        /// Customers of whom something was found.
        public var customers = 0
        /// Purchases that they hold.
        public var purchases = 0
        /// Statements that were new to the journal.
        public var new = 0
        public var unmatched: [Unmatched] = []
        /// How many more there were than are listed.
        public var unmatchedNotListed = 0

        enum CodingKeys: String, CodingKey {
            case customers, purchases, new, unmatched
            case unmatchedNotListed = "unmatched_not_listed"
        }

        static let mostListed = 10_000

        mutating func add(_ unmatched: Unmatched) {
            if self.unmatched.count < Self.mostListed {
                self.unmatched.append(unmatched)
            } else {
                unmatchedNotListed += 1
            }
        }
    }

    private struct Place: Codable {
        var lines = 0
        var report = Report()
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
    private let name: String
    private let register: @Sendable (API.CreateCustomerRequest) async throws -> API.Customer
    private var context: StoreContext { receipts.context }

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

    /// How many customers are asked about at once; Apple allows 50 calls a second.
    private static let width = 8

    /// Imports, or goes on importing.
    ///
    /// - Parameter next: the next line of the file without its end, `nil` after the last one.
    /// - Returns: `nil` if another process is importing this file.
    /// - Throws: what broke it off; another run goes on from there.
    public func run(
        next: () throws -> [UInt8]?,
        progress: WorkProgress.Report = { _ in }
    ) async throws -> Report? {
        try await context.leases.holding(name) { prolong in
            var place = try await context.records.cursors.value(name) ?? Place()
            var columns = ReceiptImportLine.usual
            for number in 0..<place.lines {
                let line = try next()
                if number == 0, let heading = line.flatMap(ReceiptImportLine.columns(ofHeading:)) {
                    columns = heading
                }
            }
            var isAtEnd = false
            while !isAtEnd {
                var lines: [(Int, [UInt8])] = []
                var taken = 0
                while taken < Self.width {
                    guard let line = try next() else {
                        isAtEnd = true
                        break
                    }
                    taken += 1
                    if place.lines + taken == 1,
                        let heading = ReceiptImportLine.columns(ofHeading: line)
                    {
                        columns = heading
                        continue
                    }
                    lines.append((place.lines + taken, line))
                }
                let done = try await take(lines, columns)
                try Self.requireAnswers(done.map(\.outcome))
                for one in done { place.report.add(one) }
                place.lines += taken
                try await context.records.cursors
                    .keep(name, value: place, now: context.clocks.wall())
                try await prolong()
                progress(WorkProgress(step: "customers", done: place.lines))
            }
            return place.report
        }
    }

    /// - Throws: the App Store's error where it failed over a whole batch. Failing over some lines, it
    ///   may fail over them for ever.
    private static func requireAnswers(_ outcomes: [Outcome]) throws {
        guard outcomes.count == width else { return }
        var failure: AppStore.ServerAPIError?
        for outcome in outcomes {
            guard case .failed(let error) = outcome else { return }
            failure = error
        }
        if let failure { throw failure }
    }

    /// A line, and what became of it.
    fileprivate struct Done: Sendable {
        var line: Int
        var appUserID: String?
        var isReceipt: Bool
        var outcome: Outcome
    }

    /// Several lines at once; the results in their order.
    private func take(
        _ lines: [(Int, [UInt8])],
        _ columns: [ReceiptImportLine.Column]
    ) async throws -> [Done] {
        try await withThrowingTaskGroup(of: Done?.self) { group in
            for (number, bytes) in lines {
                group.addTask { try await self.take(bytes, columns, number: number) }
            }
            var done: [Done] = []
            for try await one in group { if let one { done.append(one) } }
            return done.sorted { $0.line < $1.line }
        }
    }

    private func take(
        _ bytes: [UInt8],
        _ columns: [ReceiptImportLine.Column],
        number: Int
    ) async throws -> Done? {
        let line: ReceiptImportLine
        do {
            guard let read = try ReceiptImportLine.read(bytes, columns) else { return nil }
            line = read
        } catch {
            return Done(
                line: number,
                appUserID: error.appUserID,
                isReceipt: true,
                outcome: .unmatched(error.reason)
            )
        }
        var request = API.CreateCustomerRequest(appUserID: line.appUserID)
        request.appAccountToken = line.appAccountToken
        let outcome: Outcome
        var isReceipt = false
        switch line.subject {
        case .receipt(let data):
            isReceipt = true
            outcome = try await take(receipt: data, of: request)
        case .transaction(let id):
            outcome = try await take(transaction: id, of: request, bundleID: line.bundleID)
        }
        return Done(
            line: number,
            appUserID: line.appUserID,
            isReceipt: isReceipt,
            outcome: outcome
        )
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

extension ReceiptImport.Report {
    fileprivate mutating func add(_ done: ReceiptImport.Done) {
        func add(_ reason: String) {
            self.add(.init(line: done.line, appUserID: done.appUserID, reason: reason))
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
