import StrictJSON

extension GooglePlay {
    /// A page of what the Play Console sells for one app.
    public struct ProductPage: Hashable, Sendable {
        /// By product id the ids of its base plans; none for a one-time product.
        public let basePlans: [String: [String]]
        /// The place of the next page; `nil` for the last one.
        public let next: String?

        init(_ products: JSON?, next: String?) {
            var found: [String: [String]] = [:]
            if let products {
                for product in products.elements {
                    guard let id = product["productId"]?.string else { continue }
                    var plans: [String] = []
                    if let list = product["basePlans"] {
                        for plan in list.elements {
                            if let id = plan["basePlanId"]?.string { plans.append(id) }
                        }
                    }
                    found[id] = plans
                }
            }
            basePlans = found
            self.next = next
        }
    }
}

extension GooglePlay.Client {
    /// `monetization.subscriptions.list`.
    public func subscriptions(
        page: String? = nil
    ) async throws(GooglePlay.APIFault) -> Answer<GooglePlay.ProductPage> {
        try await get(
            "monetization.subscriptions.list",
            ["subscriptions"],
            page.map { [("pageToken", $0)] } ?? []
        ) { json throws(GooglePlay.DecodingError) in
            GooglePlay.ProductPage(json["subscriptions"], next: json["nextPageToken"]?.string)
        }
    }

    /// `monetization.onetimeproducts.list`.
    public func oneTimeProducts(
        page: String? = nil
    ) async throws(GooglePlay.APIFault) -> Answer<GooglePlay.ProductPage> {
        try await get(
            "monetization.onetimeproducts.list",
            ["oneTimeProducts"],
            page.map { [("pageToken", $0)] } ?? []
        ) { json throws(GooglePlay.DecodingError) in
            GooglePlay.ProductPage(json["oneTimeProducts"], next: json["nextPageToken"]?.string)
        }
    }
}
