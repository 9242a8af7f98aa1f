public import GooglePlayAPI
public import Stores
internal import TollgateAPI

extension GooglePlay.APIFault: StoreFault {
    public var refusal: Stores.Refusal {
        let isLater =
            switch meaning {
            case .tooMany, .unavailable, .changedMeanwhile: true
            case .notAllowed, .notFound, .noLongerReadable, .invalid, .unreadable: false
            }
        var refusal = Stores.Refusal(
            isLater ? 503 : 502,
            .storeUnavailable,
            "Google Play could not answer this now; nothing was done here."
        )
        refusal.retryAfter = retryAfter
        return refusal
    }
}

/// A push that did not prove that it comes from our Pub/Sub subscription.
enum PushFault: StoreFault, Hashable {
    /// Its token is not Google's, or not for us.
    case token(GooglePlay.PushTokenVerifier.Refusal)
    /// Google's keys cannot be had now.
    case noKeys
    /// Pushes are not set up here.
    case notSetUp

    var refusal: Stores.Refusal {
        switch self {
        case .token:
            Stores.Refusal(
                401,
                "push_token",
                "The token of this push is not Google's for this server: compare the audience and "
                    + "the service account of the Pub/Sub subscription with "
                    + "TOLLGATE_GOOGLE_PLAY_PUSH_AUDIENCE and TOLLGATE_GOOGLE_PLAY_PUSH_EMAIL.",
                param: "Authorization"
            )
        case .noKeys:
            Stores.Refusal(
                503,
                .storeUnavailable,
                "Google's keys cannot be fetched now; push again."
            )
        case .notSetUp:
            Stores.Refusal(
                503,
                .storeUnavailable,
                "Pushes are not configured: set TOLLGATE_GOOGLE_PLAY_PUSH_AUDIENCE and "
                    + "TOLLGATE_GOOGLE_PLAY_PUSH_EMAIL, or pull."
            )
        }
    }
}
