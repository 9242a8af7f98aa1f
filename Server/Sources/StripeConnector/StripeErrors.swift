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
