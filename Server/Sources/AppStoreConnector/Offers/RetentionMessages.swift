internal import AppStoreAPI
internal import Foundation
internal import Storage
internal import Stores
internal import TollgateAPI
internal import TollgateCore

/// Replies to the App Store's realtime requests about customers who are about to cancel.
public struct RetentionMessages: Sendable {
    let context: StoreContext
    let messages: AppStoreMessages
    let offers: AppStoreOffers
    let rules: [RetentionRule]

    /// Chooses what a customer is shown who is about to cancel a subscription: the reply to a realtime
    /// request of the App Store's, by the first rule that fits.
    ///
    /// Reads no table and writes nothing: the App Store waits 700 milliseconds.
    ///
    /// - Parameter body: `{"signedPayload": "…"}`.
    /// - Returns: `RealtimeResponseBody`, in JSON.
    /// - Throws: `AppStore.VerificationError` for what the App Store did not sign for this app; a
    ///   refusal 404 `resource_missing` where no rule fits, and then the App Store shows the default
    ///   message.
    public func reply(to body: [UInt8]) async throws -> [UInt8] {
        let signedPayload = try AppStore.NotificationBody(body).signedPayload
        try await messages.checkRevocation(of: signedPayload)
        let now = await context.clocks.now().milliseconds
        let (request, app) = try messages.verified { verifier throws(AppStore.VerificationError) in
            let request = try verifier.verifyRealtimeRequest(signedPayload: signedPayload, now: now)
            return (request, try verifier.app(appAppleID: request.appAppleID).bundleID)
        }
        let reply = try realtimeResponse(to: request, of: app)
        context.counters.count(
            "tollgate_retention_messages_total",
            "reply=\"\(reply?.kind ?? "none")\""
        )
        guard let reply else {
            throw Refusal(
                404,
                .resourceMissing,
                "No rule of TOLLGATE_RETENTION_MESSAGES is for this plan and language."
            )
        }
        return reply.body
    }

    private func realtimeResponse(
        to request: AppStore.RealtimeRequest,
        of application: String
    ) throws -> AppStore.RealtimeResponse? {
        guard let productID = request.productID,
            let environment = request.environment.flatMap(StoreEnvironment.init),
            let rule = rules.first(where: {
                $0.fits(
                    product: productID,
                    locale: request.userLocale,
                    in: environment,
                    of: application,
                    catalog: context.records.history.current
                )
            })
        else { return nil }
        switch rule.choice {
        case .message: return .message(rule.message)
        case .alternateProduct(let other):
            return .alternateProduct(rule.message, productID: other)
        case .promotionalOffer(let offer, let other):
            // The transaction, optional elsewhere, is required here.
            guard let transaction = request.originalTransactionID else { return nil }
            let jws = try offers.configured(application).signer.promotionalOfferJWS(
                productID: other ?? productID,
                offerID: offer,
                transactionID: transaction,
                nonce: context.random.uuid(),
                issuedAt: context.clocks.wall().milliseconds / 1000
            )
            return .promotionalOffer(rule.message, compactJWS: jws)
        }
    }
}

extension AppStore.RealtimeResponse {
    /// For the counter.
    fileprivate var kind: String {
        switch self {
        case .message: "message"
        case .alternateProduct: "alternate_product"
        case .promotionalOffer: "promotional_offer"
        }
    }
}
