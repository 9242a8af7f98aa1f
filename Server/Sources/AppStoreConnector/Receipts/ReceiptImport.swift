internal import AppStoreAPI
internal import Foundation
internal import Storage
public import Stores
internal import StrictJSON
public import TollgateAPI
internal import TollgateCore

/// Brings in what the customers of another system bought, by a file of their receipts.
///
/// One customer a line: `{"app_user_id":"…","receipt_data":"…"}`, or `app_user_id,receipt_data`.
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

    private struct Line {
        var number: Int
        var appUserID: String
        var appAccountToken: String?
        var receiptData: String
    }

    private enum Outcome {
        case found(purchases: Int, new: Int)
        case unmatched(Unmatched)
        /// The App Store failed over this line.
        case failed(Unmatched, AppStore.ServerAPIError)
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
            for _ in 0..<place.lines { _ = try next() }
            var isAtEnd = false
            while !isAtEnd {
                var lines: [(Int, [UInt8])] = []
                while lines.count < Self.width {
                    guard let line = try next() else {
                        isAtEnd = true
                        break
                    }
                    lines.append((place.lines + lines.count + 1, line))
                }
                let outcomes = try await take(lines)
                try Self.requireAnswers(outcomes)
                for outcome in outcomes {
                    switch outcome {
                    case .found(let purchases, let new):
                        place.report.customers += 1
                        place.report.purchases += purchases
                        place.report.new += new
                    case .unmatched(let unmatched), .failed(let unmatched, _):
                        place.report.add(unmatched)
                    case nil: break
                    }
                }
                place.lines += lines.count
                try await context.records.cursors
                    .keep(name, value: place, now: context.clocks.wall())
                try await prolong()
                progress(WorkProgress(step: "receipts", done: place.lines))
            }
            return place.report
        }
    }

    /// - Throws: the App Store's error where it failed over all of several lines. Failing over some,
    ///   it may fail over them for ever.
    private static func requireAnswers(_ outcomes: [Outcome?]) throws {
        var failure: AppStore.ServerAPIError?
        for case let outcome? in outcomes {
            guard case .failed(_, let error) = outcome else { return }
            failure = error
        }
        if let failure { throw failure }
    }

    /// Several lines at once; the results in their order.
    private func take(_ lines: [(Int, [UInt8])]) async throws -> [Outcome?] {
        try await withThrowingTaskGroup(of: (Int, Outcome?).self) { group in
            for (number, bytes) in lines {
                group.addTask { (number, try await self.take(bytes, number: number)) }
            }
            var outcomes: [(Int, Outcome?)] = []
            for try await outcome in group { outcomes.append(outcome) }
            return outcomes.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    // Swift 6.3.1's optimiser ends with an ownership error on this function.
    @_optimize(none)
    private func take(_ bytes: [UInt8], number: Int) async throws -> Outcome? {
        let line: Line
        switch Self.read(bytes, number: number) {
        case .success(let read?): line = read
        case .success(nil): return nil
        case .failure(let unmatched): return .unmatched(unmatched.value)
        }
        func unmatched(_ reason: String) -> Outcome {
            .unmatched(Unmatched(line: number, appUserID: line.appUserID, reason: reason))
        }
        do {
            var request = API.CreateCustomerRequest(appUserID: line.appUserID)
            request.appAccountToken = line.appAccountToken
            let customer = try await register(request)
            let reply = try await receipts.receive(
                line.receiptData,
                from: Customer.ID(customer.id),
                mode: .observed,
                isTrusted: true,
                leavesConsumables: true
            )
            guard !reply.purchases.isEmpty else {
                return unmatched("the receipt holds no purchase")
            }
            return .found(purchases: reply.purchases.count, new: reply.new)
        } catch let refusal as Refusal {
            // What is out of order here or at the store breaks the run off; a bad line does not.
            guard refusal.status < 500 else { throw refusal }
            return unmatched(refusal.error.message)
        } catch let error as AppStore.ReceiptError {
            guard !error.isRetryable, error.status != .wrongSharedSecret else { throw error }
            return unmatched("\(error)")
        } catch let error as AppStore.VerificationError {
            guard !error.isRetryable else { throw error }
            return unmatched("\(error)")
        } catch let error as AppStore.ServerAPIError {
            if error.meaning == .fault {
                let reason = "\(error); import this line again later"
                return .failed(
                    Unmatched(line: number, appUserID: line.appUserID, reason: reason),
                    error
                )
            }
            guard !error.isRetryable, !error.isForbidden else { throw error }
            return unmatched("\(error)")
        }
    }

    // MARK: - Lines

    private struct Failure: Error {
        var value: Unmatched
    }

    private static func read(_ bytes: [UInt8], number: Int) -> Result<Line?, Failure> {
        func failure(_ reason: String, _ user: String? = nil) -> Result<Line?, Failure> {
            .failure(Failure(value: Unmatched(line: number, appUserID: user, reason: reason)))
        }
        let bytes = bytes.last == UInt8(ascii: "\r") ? bytes.dropLast() : bytes[...]
        guard bytes.contains(where: { $0 > 0x20 }) else { return .success(nil) }
        if bytes.first == UInt8(ascii: "{") {
            guard let json = try? JSON(Array(bytes)) else {
                return failure("the line is no JSON")
            }
            guard let user = json["app_user_id"]?.string,
                let receipt = json["receipt_data"]?.string
            else { return failure("the line lacks app_user_id or receipt_data") }
            return .success(
                Line(
                    number: number,
                    appUserID: user,
                    appAccountToken: json["app_account_token"]?.string,
                    receiptData: receipt
                )
            )
        }
        guard let text = String(bytes: bytes, encoding: .utf8) else {
            return failure("the line is no UTF-8")
        }
        let fields = text.split(separator: ",", maxSplits: 1, omittingEmptySubsequences: false)
            .map { field in
                field.hasPrefix("\"") && field.hasSuffix("\"") && field.count > 1
                    ? String(field.dropFirst().dropLast()) : String(field)
            }
        guard fields.count == 2 else { return failure("the line is not app_user_id,receipt_data") }
        // The first line may name the columns.
        if number == 1, fields[1] == "receipt_data" { return .success(nil) }
        return .success(
            Line(number: number, appUserID: fields[0], appAccountToken: nil, receiptData: fields[1])
        )
    }
}
