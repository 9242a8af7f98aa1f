internal import Foundation
internal import Storage
internal import Stores
public import TollgateAPI
internal import TollgateCore

extension Sessions {
    /// Ends sessions before their time: all of a customer's, or one by its secret.
    ///
    /// - Throws: refusals 400 `parameter_missing`, 404 `resource_missing`.
    public func revoke(
        _ request: API.SessionRevocationRequest
    ) async throws -> API.SessionRevocation {
        if let secret = request.clientSecret {
            return API.SessionRevocation(revoked: try await records.revoke(secret))
        }
        guard let customer = request.customer else {
            throw Refusal(
                400,
                .parameterMissing,
                "Name a customer or a client_secret.",
                param: "customer"
            )
        }
        let id = Customer.ID(try await directory.customer(customer, param: "customer").id)
        return API.SessionRevocation(revoked: try await records.revokeAll(of: id))
    }

    /// Ends the session of who asks: signing out.
    public func revoke(_ secret: String) async throws -> API.SessionRevocation {
        API.SessionRevocation(revoked: try await records.revoke(secret))
    }
}
