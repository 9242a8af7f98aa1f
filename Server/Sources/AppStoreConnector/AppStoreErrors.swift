public import AppStoreAPI
public import Stores
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

extension AppStore.ServerAPIError {
    /// Returns `true` if the App Store does not know the customer or the purchase.
    var isUnknown: Bool {
        guard case .refused(let refusal) = cause else { return false }
        return isNotFound || refusal.code == .accountNotFound
    }

    /// The error's meaning for a question about one purchase.
    var meaning: ErrorMeaning {
        if isForbidden { return .unwilling }
        return switch cause {
        case .refused(let refusal):
            if refusal.status == 429 || refusal.code == .rateLimitExceeded {
                .unwilling
            } else {
                refusal.isRetryable ? .fault : .final
            }
        case .unreachable: .unreachable
        case .unreadable: .unreadable
        case .pagingStuck, .invalidIdentifier, .unsigned: .final
        }
    }
}

extension AppStore.ReceiptError: StoreFault {
    public var refusal: Stores.Refusal { .init(appStoreFailed: isRetryable) }
}

extension Refusal {
    fileprivate init(appStoreFailed isPassing: Bool) {
        self.init(
            isPassing ? 503 : 502,
            .storeUnavailable,
            "The App Store could not answer this now; nothing was done here."
        )
    }
}
