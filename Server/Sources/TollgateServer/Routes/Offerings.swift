internal import Hummingbird
internal import Stores
internal import TollgateAPI
internal import TollgateCore
internal import TollgateService

/// What an app shows together, and what its customers have seen.
func addOfferings(to router: Router<ServerRequestContext>, _ tollgate: Tollgate) {
    router.get(APIPath.offerings.route) { request, _ in
        let app = try await Credentials(request, tollgate).askingApp(request.headers, tollgate)
        return try Response.json(tollgate.offerings.all(for: app?.app))
    }
    router.get(APIPath.placement.route) { request, context in
        let credentials = try await Credentials(request, tollgate)
        try credentials.refuseSecret()
        return try Response.json(
            try tollgate.offerings.placement(
                try context.id,
                for: credentials.session?.customer,
                in: try credentials.askingApp(request.headers, tollgate)?.app
            )
        )
    }
    router.post(APIPath.placementShown.route) { request, context in
        let session = try await Credentials(request, tollgate).requireSession()
        let shown = try await request.json(API.PlacementShownRequest.self)
        try tollgate.callLimits.shownOfferings.admit(
            session.customer.rawValue,
            at: tollgate.clocks.wall()
        )
        return try Response.json(
            try await tollgate.offerings.show(
                shown,
                at: try context.id,
                to: session.customer,
                in: session.environment
            )
        )
    }
}
