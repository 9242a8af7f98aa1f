internal import AppStoreAPI
internal import Foundation
internal import Storage
internal import StrictJSON
internal import StripeAPI
internal import TollgateAPI

extension Refusal {
    /// What a caller is told of `error`.
    ///
    /// An error that is nobody's fault but ours says no more than that; the log says the rest.
    public init(telling error: any Error) {
        switch error {
        case let refusal as Refusal:
            self = refusal
        case let error as AppStore.VerificationError:
            self.init(error)
        case let error as AppStore.ServerAPIError:
            self.init(appStoreFailed: error.isRetryable)
        case let error as AppStore.ReceiptError:
            self.init(appStoreFailed: error.isRetryable)
        case let refusal as Stripe.WebhookSignature.Refusal:
            self.init(
                400,
                .invalidRequestError,
                APIError.Code(rawValue: refusal.code),
                "\(refusal)",
                param: "Stripe-Signature"
            )
        case let error as StorageError where error.isRetryable || error.kind == .closed:
            self.init(
                503,
                .apiError,
                .storageUnavailable,
                "The database cannot take this now; nothing was done. Try again."
            )
        case let error as Stripe.RequestError:
            self.init(
                error.isRetryable ? 503 : 502,
                .apiError,
                .storeUnavailable,
                "Stripe could not do this now; nothing was done here."
            )
        default:
            self.init(500, .apiError, .internalError, "Something failed here; nothing was done.")
        }
    }

    private init(appStoreFailed isPassing: Bool) {
        self.init(
            isPassing ? 503 : 502,
            .apiError,
            .storeUnavailable,
            "The App Store could not answer this now; nothing was done here."
        )
    }

    private init(_ error: AppStore.VerificationError) {
        let status =
            switch error.code {
            case .appUnknown: 404
            case _ where error.isRetryable: 503
            default: 400
            }
        self.init(
            status,
            .invalidRequestError,
            APIError.Code(rawValue: error.code.rawValue),
            "\(error)",
            param: "signedPayload"
        )
    }
}
