internal import AppStoreAPI
internal import Logging
internal import Stores
internal import StripeAPI

// A store's signature proves what time it is there. Each warning comes once a minute at most: whoever
// sends what shows it again and again must not fill the log.
extension Tollgate {
    private static let pause: Int64 = 60_000

    /// Says that our clock is behind the App Store's, where an error shows it.
    func noteClock(_ error: AppStore.VerificationError) {
        guard let seconds = error.secondsAhead, clockPace.isDue(clocks.wall(), every: Self.pause)
        else { return }
        logger.error(
            "this server's clock is \(seconds) seconds behind the App Store's: set it; until then nothing that the App Store signs now is taken in, and it sends its notifications again"
        )
    }

    /// Says that our clock is behind Stripe's.
    func noteClock(secondsBehindStripe seconds: Int64) {
        guard seconds > 300, clockPace.isDue(clocks.wall(), every: Self.pause) else { return }
        logger.error(
            "this server's clock is \(seconds) seconds behind Stripe's: set it"
        )
    }

    /// Says that our clock may be ahead of Stripe's, where an error shows it.
    func noteClock(_ error: Stripe.WebhookSignature.Refusal) {
        guard let seconds = error.age, clockPace.isDue(clocks.wall(), every: Self.pause)
        else { return }
        logger.warning(
            "a webhook that Stripe signed \(seconds) seconds ago was refused: this server's clock is ahead of Stripe's, or somebody sends again what they caught"
        )
    }
}
