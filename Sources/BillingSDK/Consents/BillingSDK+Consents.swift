import Foundation
internal import TollgateAPI

extension BillingSDK {
    /// What the customer has agreed to, and what is asked of them today; always from the server.
    ///
    /// - Throws: ``BillingSDKError/unauthenticated`` where nobody is signed in.
    public func getConsents() async throws -> Consents {
        try await ConsentCalls(client: client).consents()
    }

    /// Records that the customer accepts these documents, in the versions that they were shown.
    ///
    /// The server keeps version and time. Accepting the same version again changes nothing.
    /// - Throws: ``BillingSDKError/unauthenticated`` where nobody is signed in;
    ///   ``BillingSDKError/requestRefused(status:code:message:)`` for a version that never was.
    /// - Returns: what is on record then.
    @discardableResult
    public func accept(_ documents: [TermsDocument]) async throws -> Consents {
        try await ConsentCalls(client: client).record(
            API.ConsentsRequest(
                terms: documents.map { .init(document: $0.id, version: $0.version) }
            )
        )
    }

    /// Records the age in years that the customer says to have reached; of several the newest counts.
    ///
    /// It narrows what a parent or guardian declared, or what was checked, and does not lead out of that.
    ///
    /// Example: somebody between 13 and 15 is `stateAge(atLeast: 13, below: 16)`.
    /// - Parameters:
    ///   - years: the age that they have reached; 0 where they are only known to be younger than `limit`.
    ///   - limit: the age that they say not to have reached; nil where that is unknown.
    /// - Throws: ``BillingSDKError/unauthenticated`` where nobody is signed in;
    ///   ``BillingSDKError/requestRefused(status:code:message:)`` for an age that nobody has, and with code
    ///   `age_declared` for one outside of what others declared.
    /// - Returns: what is on record then.
    @discardableResult
    public func stateAge(atLeast years: Int, below limit: Int? = nil) async throws -> Consents {
        try await ConsentCalls(client: client).record(
            API.ConsentsRequest(age: .init(atLeast: years, below: limit))
        )
    }

    /// Records that a parent or guardian agrees that the customer buys, or withdraws it.
    ///
    /// The app chooses how to ask them: an email, a code, or Apple's PermissionKit. The server keeps the
    /// app's word with its time. Only ``Consents/isParentalConsentMissing`` depends on it.
    /// - Parameter isGiven: false withdraws what was given.
    /// - Throws: ``BillingSDKError/unauthenticated`` where nobody is signed in;
    ///   ``BillingSDKError/requestRefused(status:code:message:)`` with `too_many_statements` where it
    ///   changed ten times within a day.
    /// - Returns: what is on record then.
    @discardableResult
    public func recordParentalConsent(_ isGiven: Bool) async throws -> Consents {
        try await ConsentCalls(client: client).record(
            API.ConsentsRequest(parentalConsent: isGiven)
        )
    }

    /// Which gates stand open, for ``PurchaseInbox/next(_:)``: session, terms and age by the server's
    /// record, and what the customer has already.
    ///
    /// - Parameter isSetUp: whether the app's own first steps are done, which only the app knows.
    /// - Throws: ``BillingSDKError`` if the server cannot say; then leave the inbox as it is.
    public func getPurchaseReadiness(isSetUp: Bool) async throws -> PurchaseReadiness {
        try await ConsentCalls(client: client).purchaseReadiness(isSetUp: isSetUp)
    }
}
