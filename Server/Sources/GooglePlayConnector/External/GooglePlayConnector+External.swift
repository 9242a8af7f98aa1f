internal import GooglePlayAPI
public import Stores
internal import TollgateAPI
internal import TollgateCore

extension GooglePlayConnector {
    /// Reports a purchase outside Google Play's billing: payments and refunds that Google does not have.
    ///
    /// https://developer.android.com/google/play/billing/outside-gpb-backend
    ///
    /// Google keeps what was reported, so nothing is kept here, and reporting again changes nothing.
    ///
    /// - Parameter package: the app; `nil`: the first one.
    /// - Throws: refusals 400 `parameter_missing` where the first payment needs its token,
    ///   `parameter_invalid` where Google refuses a report; 404 `app_unknown`; 429 `rate_limited`; 503
    ///   `store_unavailable`.
    public func report(
        _ purchase: ExternalPurchase,
        in package: String?
    ) async throws -> [ExternalPurchase.Report] {
        let app = try setUp.requireApp(package)
        var reports: [ExternalPurchase.Report] = []
        do {
            for payment in purchase.payments {
                reports.append(try await report(payment, of: purchase, in: app))
            }
        } catch let fault as GooglePlay.APIFault where fault.meaning == .invalid {
            throw Refusal.invalid("purchase", "\(fault)")
        }
        return reports
    }

    private func report(
        _ payment: ExternalPurchase.Payment,
        of purchase: ExternalPurchase,
        in app: GooglePlaySetUp.App
    ) async throws -> ExternalPurchase.Report {
        let known = try await transaction(payment.id, in: app)
        var reported: GooglePlay.ExternalTransaction
        if let known {
            reported = known
        } else {
            let report = try Self.report(payment, of: purchase)
            reported = try await ask(app) { try await $0.createExternalTransaction(report).value }
        }
        var refused: GooglePlay.APIFault?
        for refund in Self.refunds(of: payment, missingIn: reported) {
            do {
                reported = try await ask(app) {
                    try await $0.refundExternalTransaction(payment.id, refund).value
                }
            } catch let fault as GooglePlay.APIFault
                where [.changedMeanwhile, .invalid].contains(fault.meaning)
            {
                // Google may have this refund: it says that the same id fails, and not by which status.
                refused = fault
            }
        }
        if let refused, !Self.refunds(of: payment, missingIn: reported).isEmpty { throw refused }
        return ExternalPurchase.Report(
            id: reported.id,
            state: reported.state?.rawValue ?? "",
            isNew: known == nil
        )
    }

    /// The transaction as Google has it; `nil` where it was not reported.
    private func transaction(
        _ id: String,
        in app: GooglePlaySetUp.App
    ) async throws -> GooglePlay.ExternalTransaction? {
        do {
            return try await ask(app) { try await $0.externalTransaction(id).value }
        } catch let fault as GooglePlay.APIFault where fault.meaning == .notFound {
            return nil
        }
    }

    private static func report(
        _ payment: ExternalPurchase.Payment,
        of purchase: ExternalPurchase
    ) throws -> GooglePlay.ExternalTransactionReport {
        let kind: GooglePlay.ExternalTransactionReport.Kind
        if let first = purchase.payments.first, first.id != payment.id {
            kind = .renewal(of: first.id)
        } else {
            guard let token = purchase.token else {
                throw Refusal.missingParameter("external_transaction_token")
            }
            kind = purchase.isSubscription ? .subscription(token: token) : .oneTime(token: token)
        }
        return GooglePlay.ExternalTransactionReport(
            id: payment.id,
            preTax: GooglePlay.Price(currency: payment.currency, micros: payment.preTax),
            tax: GooglePlay.Price(currency: payment.currency, micros: payment.tax),
            time: payment.paid.milliseconds,
            kind: kind,
            region: purchase.region,
            administrativeArea: purchase.administrativeArea,
            link: purchase.link.map(Self.link)
        )
    }

    private static func link(
        _ link: API.ExternalPurchaseLink
    ) -> GooglePlay.ExternalTransactionReport.Link {
        GooglePlay.ExternalTransactionReport.Link(
            isOffer: link.program == .externalOffers,
            isDownload: link.type.map { $0 == .appDownload },
            package: link.installedAppPackage,
            isGame: link.installedAppCategory.map { $0 == .game },
            download: link.appDownloadTransaction
        )
    }

    /// The refunds to report: none where Google's remaining price is right.
    private static func refunds(
        of payment: ExternalPurchase.Payment,
        missingIn reported: GooglePlay.ExternalTransaction
    ) -> [GooglePlay.ExternalTransactionRefund] {
        guard let last = payment.refunds.last, reported.state != .canceled else { return [] }
        let left = payment.refunds.reduce(payment.preTax) { $0 - $1.preTax }
        guard left > 0 else {
            return [GooglePlay.ExternalTransactionRefund(time: last.at.milliseconds)]
        }
        guard reported.currentPreTax.map({ $0.micros > left }) ?? true else { return [] }
        return payment.refunds.map { refund in
            GooglePlay.ExternalTransactionRefund(
                time: refund.at.milliseconds,
                part: .init(
                    id: refund.id,
                    preTax: GooglePlay.Price(currency: payment.currency, micros: refund.preTax)
                )
            )
        }
    }

    private func ask<Value: Sendable>(
        _ app: GooglePlaySetUp.App,
        _ body: (GooglePlay.Client) async throws -> Value
    ) async throws -> Value {
        do {
            return try await reads.call(.external, app, body)
        } catch is QuotaUsedUp {
            var refusal = Refusal(
                429,
                .rateLimited,
                "Google Play is asked as often as it allows; try again in 5 s."
            )
            refusal.retryAfter = 5
            throw refusal
        }
    }
}
