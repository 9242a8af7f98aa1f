internal import Foundation
internal import GooglePlayAPI
internal import Storage
public import Stores
public import TollgateAPI
internal import TollgateCore

/// Brings in what customers bought before this server was there, by a file of purchase tokens or order
/// ids; each purchase is read from Google and journalled as evidence.
///
/// It goes on where it was broken off: its place is in the database, under the file's name.
public struct PurchaseImport: Sendable {
    /// The outcome of an import.
    public struct Report: Hashable, Codable, Sendable {
        /// Purchases that Google showed, and that are in the record now.
        public var purchases = 0
        /// Those of which the record learned anything.
        public var new = 0
        /// Purchases of consumables that were consumed: whoever sold them has credited them.
        public var consumed = 0
        public var unmatched: [UnmatchedLine] = []
        public var unmatchedNotListed = 0

        package init() {}

        enum CodingKeys: String, CodingKey {
            case purchases, new, consumed, unmatched
            case unmatchedNotListed = "unmatched_not_listed"
        }
    }

    /// What became of one purchase.
    public enum Outcome: Hashable, Sendable {
        /// It is in the record, of its owner.
        case read(isNew: Bool)
        /// All of it is consumed: whoever sold it has credited it.
        case consumed
        /// Google does not show it, or no longer.
        case notShown(String)
        /// The reason for which it led to nothing.
        case unmatched(String)
    }

    private let reads: GooglePlayReads
    package let name: String
    private let register: @Sendable (API.CreateCustomerRequest) async throws -> API.Customer
    package var context: StoreContext { reads.context }

    /// - Parameters:
    ///   - reads: with the quota of this import.
    ///   - file: names the file across runs.
    ///   - register: makes a customer known, or finds them.
    init(
        _ reads: GooglePlayReads,
        file: String,
        register: @escaping @Sendable (API.CreateCustomerRequest) async throws -> API.Customer
    ) {
        self.reads = reads
        name = "import/google_play/\(file)"
        self.register = register
    }

    /// Brings in one purchase by the id of any of its orders.
    ///
    /// - Parameters:
    ///   - id: `GPA.3345-1234-5678-90123`, with `..0` and so on for renewals.
    ///   - request: names the owner. Like a device that observes, it takes nothing from anybody.
    /// - Throws: `GooglePlay.APIFault` or whatever else breaks an import off.
    public func take(
        order id: String,
        of request: API.CreateCustomerRequest
    ) async throws -> Outcome {
        let line: PurchaseImportLine
        do { line = try PurchaseImportLine(order: id, of: request) } catch {
            return .unmatched(error.reason)
        }
        // No order names its app, so each app of this server is asked.
        var outcome: Outcome?
        for app in reads.setUp.apps {
            outcome = try await take(line, ofPackage: app.packageName)
            guard case .notShown? = outcome else { break }
        }
        return outcome
            ?? .unmatched(
                "Google Play is not set up: set TOLLGATE_GOOGLE_PLAY_SERVICE_ACCOUNT_FILE and TOLLGATE_GOOGLE_PLAY_PACKAGE_NAME"
            )
    }

    private func take(
        _ line: PurchaseImportLine,
        ofPackage package: String
    ) async throws -> Outcome {
        guard let app = reads.setUp.app(package) else {
            return .unmatched(
                "no app with the package ‘\(package.prefix(80))’ is configured; set TOLLGATE_GOOGLE_PLAY_PACKAGE_NAME, or package_name in the catalog"
            )
        }
        do {
            return try await take(line, of: app)
        } catch let refusal as Refusal {
            // What is out of order here breaks the run off; a bad line does not.
            guard refusal.status < 500 else { throw refusal }
            return .unmatched(refusal.error.message)
        } catch let fault as GooglePlay.APIFault {
            switch fault.meaning {
            case .notFound, .invalid:
                return .notShown(
                    "Google knows no such purchase in \(package); compare the package name with the file"
                )
            case .noLongerReadable:
                return .notShown(
                    "Google no longer shows this purchase: it ended more than 60 days ago, or was refunded; leave the line out"
                )
            case .unreadable:
                return .unmatched("Google's answer cannot be read: \(fault)")
            case .notAllowed, .tooMany, .unavailable, .changedMeanwhile: throw fault
            }
        }
    }

    private func take(
        _ line: PurchaseImportLine,
        of app: GooglePlaySetUp.App
    ) async throws -> Outcome {
        let claim = try await claim(line)
        switch line.subject {
        case .token(let token):
            return try await read(token, line.kind, line, claim, of: app)
        case .order(let id):
            let order = try await paced {
                try await reads.call(.orders, app) { try await $0.order(id) }
            }
            guard let token = order.value.purchaseToken else {
                return .unmatched("Google names no purchase of this order; leave the line out")
            }
            if try await isKnown(token, to: claim?.claim.customer, of: app) {
                let money = try await reads.take(order: order, id, of: app)
                return .read(isNew: money.isNews)
            }
            let isPlan = order.value.lineItems.contains { $0.subscription != nil }
            let outcome = try await read(
                token,
                isPlan ? .subscription : .oneTime,
                line,
                claim,
                of: app
            )
            guard case .read(let isNew) = outcome else { return outcome }
            let money = try await reads.take(order: order, id, of: app)
            return .read(isNew: isNew || money.isNews)
        }
    }

    /// Returns `true` if another line has brought the purchase of an order in.
    private func isKnown(
        _ token: String,
        to customer: Customer.ID?,
        of app: GooglePlaySetUp.App
    ) async throws -> Bool {
        guard let known = try await reads.record(ofToken: token, of: app.packageName) else {
            return false
        }
        guard let customer else { return true }
        return try await context.records.holds(customer, known.key)
    }

    /// The owner that the file names.
    ///
    /// Like a device that observes, a file takes nothing from anybody.
    private func claim(_ line: PurchaseImportLine) async throws -> PlayClaim? {
        guard let user = line.appUserID else { return nil }
        var request = API.CreateCustomerRequest(appUserID: user)
        request.appAccountToken = line.appAccountToken
        let customer = try await register(request)
        return PlayClaim(
            claim: Claim(customer: Customer.ID(customer.id), mode: .observed),
            stated: await context.clocks.now()
        )
    }

    private func read(
        _ token: String,
        _ kind: API.GooglePlayPurchaseRequest.Kind?,
        _ line: PurchaseImportLine,
        _ claim: PlayClaim?,
        of app: GooglePlaySetUp.App
    ) async throws -> Outcome {
        let outcome: GooglePlayReads.Outcome
        switch kind {
        case .subscription?: outcome = try await subscription(token, line, claim, of: app)
        case .oneTime?: outcome = try await product(token, line, claim, of: app)
        case nil:
            do {
                outcome = try await subscription(token, line, claim, of: app)
            } catch let fault as GooglePlay.APIFault
                where [.notFound, .invalid].contains(fault.meaning)
            {
                outcome = try await product(token, line, claim, of: app)
            }
        }
        if outcome.isLeftOut { return .consumed }
        guard let key = outcome.key else {
            return .unmatched("Google's answer cannot be used; see ‘tollgate parked list’")
        }
        if let customer = claim?.claim.customer,
            try await !context.records.holds(customer, key)
        {
            return .unmatched(
                "the purchase is in the record and belongs to another customer; assign it in the dashboard if that is wrong"
            )
        }
        return .read(isNew: outcome.isNews)
    }

    private func subscription(
        _ token: String,
        _ line: PurchaseImportLine,
        _ claim: PlayClaim?,
        of app: GooglePlaySetUp.App
    ) async throws -> GooglePlayReads.Outcome {
        try await paced {
            try await reads.read(
                subscription: token,
                of: app,
                claim: claim,
                expecting: line.productID
            )
        }
    }

    private func product(
        _ token: String,
        _ line: PurchaseImportLine,
        _ claim: PlayClaim?,
        of app: GooglePlaySetUp.App
    ) async throws -> GooglePlayReads.Outcome {
        try await paced {
            try await reads.read(
                product: token,
                of: app,
                claim: claim,
                expecting: line.productID,
                leavingOut: { isCredited($0, in: app.packageName) }
            )
        }
    }

    /// Returns `true` if all of a purchase is consumed, and was credited by whoever sold it.
    ///
    /// A pass is consumed while it runs. What no catalog knows may be coins.
    private func isCredited(
        _ purchase: GooglePlay.ProductPurchase,
        in package: String
    ) -> Bool {
        !purchase.lineItems.isEmpty
            && purchase.lineItems.allSatisfy { item in
                let known = context.records.history.product(
                    item,
                    of: purchase,
                    in: package,
                    readAt: context.clocks.wall()
                )
                return item.isConsumed && (known?.kind ?? .consumable) == .consumable
            }
    }

    /// Asks again, later, where Google wants to be left alone.
    private func paced<Result: Sendable>(
        _ body: () async throws -> Result
    ) async throws -> Result {
        var refusals = 0
        while true {
            do {
                return try await body()
            } catch let fault as GooglePlay.APIFault
                where fault.meaning == .tooMany && refusals < 10
            {
                // Its bucket rests by itself.
                refusals += 1
            }
        }
    }
}

extension PurchaseImport: LineImport {
    package static var step: String { "purchases" }

    package func take(_ line: ImportLine<PurchaseImportLine.Column>) async throws -> Outcome {
        let line = try PurchaseImportLine(line)
        let package = line.packageName ?? reads.setUp.apps.first?.packageName ?? ""
        return try await take(line, ofPackage: package)
    }
}

extension PurchaseImport.Report: ImportReport {
    package mutating func add(_ outcome: PurchaseImport.Outcome, of line: Int) {
        switch outcome {
        case .read(let isNew):
            purchases += 1
            if isNew { new += 1 }
        case .consumed: consumed += 1
        case .notShown(let reason), .unmatched(let reason):
            add(UnmatchedLine(line: line, reason: reason))
        }
    }
}
