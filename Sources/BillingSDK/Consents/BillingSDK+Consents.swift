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
    /// - Throws: ``BillingSDKError/unauthenticated`` where nobody is signed in;
    ///   ``BillingSDKError/requestRefused(status:code:message:)`` for an age that nobody has.
    /// - Returns: what is on record then.
    @discardableResult
    public func stateAge(atLeast years: Int) async throws -> Consents {
        try await ConsentCalls(client: client).record(
            API.ConsentsRequest(age: .init(atLeast: years))
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
