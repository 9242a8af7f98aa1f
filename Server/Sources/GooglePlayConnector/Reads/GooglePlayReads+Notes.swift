internal import GooglePlayAPI
internal import TollgateCore

// Reads without a result.
extension GooglePlayReads {
    /// Notes that Google answers no more for a token of which something is known; this changes nobody's
    /// access (G26).
    func note(unreadable token: String, of app: GooglePlaySetUp.App, _ reason: String) async throws
    {
        guard let known = try await record(ofToken: token, of: app.packageName) else { return }
        try await note(
            GooglePlayUnreadable(reason: reason),
            of: known,
            #"{"error":{"code":410}}"#
        )
    }

    /// Notes that an outage keeps the renewal of a purchase unknown (RULES §18.2).
    ///
    /// - Parameter error: the refusal or the failure; only its kind is kept.
    func note(outageAbout known: Purchase, because error: any Error) async throws {
        let fault = error as? GooglePlay.APIFault
        let reason = fault.map { $0.reason ?? "\($0.meaning)" } ?? "notAsked"
        try await note(
            GooglePlayUnreadable(reason: String(reason.prefix(80)), isOutage: true),
            of: known,
            #"{"tollgate_outage":true}"#
        )
    }

    /// - Parameter evidence: the body of the journal's row.
    private func note(
        _ answer: GooglePlayUnreadable,
        of known: Purchase,
        _ evidence: String
    ) async throws {
        let instant = await instant(of: nil)
        let message = GooglePlayTranslator.message(answer, about: known.key, at: instant)
        _ = try await journal(
            PlayRead(message),
            "unreadable",
            known.key.id,
            Array(evidence.utf8),
            instant,
            nil,
            known: known
        )
    }
}
