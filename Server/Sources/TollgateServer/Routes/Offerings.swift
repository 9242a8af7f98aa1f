internal import HTTPTypes
internal import Stores
internal import TollgateAPI
internal import TollgateCore
internal import TollgateService

/// What an app shows together, and what its customers have seen.
func addOfferings(to api: APIRoutes) {
    let tollgate = api.tollgate
    api.on(.get, .offerings) { try tollgate.offerings.all(for: $0.app) }
    api.on(.get, .placement, by: .device) {
        try tollgate.offerings.placement($0.id, for: $0.credentials.session?.customer, in: $0.app)
    }
    api.on(.post, .placementShown, by: .session) {
        let session = try $0.session
        let shown = try await $0.json(API.PlacementShownRequest.self)
        try tollgate.callLimits.shownOfferings.admit(
            session.customer.rawValue,
            at: tollgate.clocks.wall()
        )
        return try await tollgate.offerings.show(
            shown,
            at: $0.id,
            to: session.customer,
            in: session.environment
        )
    }
}
