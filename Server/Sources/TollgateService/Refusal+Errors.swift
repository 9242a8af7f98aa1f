public import AppStoreAPI
public import Stores
public import StripeAPI
internal import TollgateAPI

extension AppStore.VerificationError: StoreFault {
    public var refusal: Stores.Refusal {
        let status =
            switch code {
            case .appUnknown: 404
            case _ where isRetryable: 503
            default: 400
            }
        return Stores.Refusal(
            status,
            .invalidRequestError,
            APIError.Code(rawValue: code.rawValue),
            "\(self)",
            param: "signedPayload"
        )
    }
}

extension AppStore.ServerAPIError: StoreFault {
    public var refusal: Stores.Refusal { .init(appStoreFailed: isRetryable) }
}

extension AppStore.ReceiptError: StoreFault {
    public var refusal: Stores.Refusal { .init(appStoreFailed: isRetryable) }
}

extension Refusal {
    fileprivate init(appStoreFailed isPassing: Bool) {
        self.init(
            isPassing ? 503 : 502,
            .apiError,
            .storeUnavailable,
            "The App Store could not answer this now; nothing was done here."
        )
    }
}

extension Stripe.WebhookSignature.Refusal: StoreFault {
    public var refusal: Stores.Refusal {
        Stores.Refusal(
            400,
            .invalidRequestError,
            APIError.Code(rawValue: code),
            "\(self)",
            param: "Stripe-Signature"
        )
    }
}

extension Stripe.RequestError: StoreFault {
    public var refusal: Stores.Refusal {
        Stores.Refusal(
            isRetryable ? 503 : 502,
            .apiError,
            .storeUnavailable,
            "Stripe could not do this now; nothing was done here."
        )
    }
}
