internal import Logging
public import Stores
public import StripeAPI
internal import TollgateAPI

extension Stripe.WebhookSignature.Refusal: StoreFault {
    public var refusal: Stores.Refusal {
        Stores.Refusal(400, APIError.Code(rawValue: code), "\(self)", param: "Stripe-Signature")
    }
}

extension Stripe.RequestError: StoreFault {
    public var refusal: Stores.Refusal {
        Stores.Refusal(
            isRetryable ? 503 : 502,
            .storeUnavailable,
            "Stripe could not do this now; nothing was done here."
        )
    }
}

extension StripeReads {
    /// The refusal for a call that did not succeed; the log has the reason.
    func unavailable(_ error: Stripe.RequestError) -> Stores.Refusal {
        context.logger.warning(
            "Stripe refused or was out of reach",
            metadata: ["error": "\(error)"]
        )
        return Stores.Refusal(
            error.isRetryable ? 503 : 502,
            .storeUnavailable,
            "Stripe could not do this now; the log says why."
        )
    }
}
