import Foundation

extension BillingSDK {
    /// Every offering of the catalog, in its order; works without a session.
    ///
    /// - Throws: ``BillingSDKError/invalidPublishableKey(_:)``,
    ///   ``BillingSDKError/networkUnavailable(_:)``,
    ///   ``BillingSDKError/serverUnavailable(status:message:)``.
    public func getOfferings() async throws -> [Offering] { try await client.offerings() }

    /// Returns the customer's offering at a place of the app: the same one each time.
    ///
    /// Where nobody is signed in it is the first variant. Tell what was shown with
    /// ``recordShown(_:)``; ``OfferingView`` does that by itself.
    /// - Throws: ``BillingSDKError/notFound(_:)`` for an unknown id; as ``getOfferings()``;
    ///   ``BillingSDKError/customerSessionProviderFailed(_:)`` and
    ///   ``BillingSDKError/sessionRejected(_:)`` where it is not known for whom.
    public func getPlacement(id: String) async throws -> Placement {
        try await client.placement(id: id)
    }

    /// Tells the server which offering the customer has seen, for your reports.
    ///
    /// Repeating it changes nothing: each customer, placement and offering counts once.
    /// - Throws: ``BillingSDKError/unauthenticated`` where nobody is signed in;
    ///   ``BillingSDKError/requestRefused(status:code:message:)`` for an offering that the placement never
    ///   had; ``BillingSDKError/notFound(_:)`` for an unknown placement;
    ///   ``BillingSDKError/serverUnavailable(status:message:)`` with 429 after sixty calls in a minute.
    public func recordShown(_ placement: Placement) async throws {
        try await client.recordShown(placement)
    }
}

/// Another name for ``Offering``, for apps that have a type of that name.
public typealias UBOffering = Offering
/// Another name for ``Placement``, for apps that have a type of that name.
public typealias UBPlacement = Placement
/// Another name for ``Money``, for apps that have a type of that name.
public typealias UBMoney = Money
