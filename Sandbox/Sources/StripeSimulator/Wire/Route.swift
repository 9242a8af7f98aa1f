/// One request while it is being answered.
struct Call: Sendable {
    /// What stands for `:id` in the route's path, in order.
    var ids: [String]
    var parameters: Parameters
    /// The version that the request asked for, or else the account's.
    var apiVersion: String
    /// Whether the request itself named it.
    var namesVersion: Bool
}

/// One operation of the API.
struct Route: Sendable {
    typealias Handler = @Sendable (inout World, inout Call) throws -> JSON

    let method: String
    let path: [Substring]
    let handler: Handler

    static func get(_ path: String, _ handler: @escaping Handler) -> Route {
        Route(method: "GET", path: path.split(separator: "/"), handler: handler)
    }

    static func post(_ path: String, _ handler: @escaping Handler) -> Route {
        Route(method: "POST", path: path.split(separator: "/"), handler: handler)
    }

    static func delete(_ path: String, _ handler: @escaping Handler) -> Route {
        Route(method: "DELETE", path: path.split(separator: "/"), handler: handler)
    }

    /// The ids in `segments` if this route is meant, fixed words before ids.
    func match(_ method: String, _ segments: [String]) -> [String]? {
        guard method == self.method, segments.count == path.count else { return nil }
        var ids: [String] = []
        for (pattern, segment) in zip(path, segments) {
            if pattern == ":id" {
                ids.append(segment)
            } else if pattern != segment {
                return nil
            }
        }
        return ids
    }

    /// Everything that is served, in groups; the first match counts.
    static let all: [Route] =
        Customers.routes + Products.routes + Prices.routes + Features.routes
        + ActiveEntitlements.routes + CheckoutSessions.routes + Subscriptions.routes
        + SubscriptionItems.routes + SubscriptionSchedules.routes + Previews.routes
        + Invoices.routes + InvoicePayments.routes + InvoiceItems.routes + PaymentIntents.routes
        + PaymentMethods.routes + Charges.routes + Balance.routes + Refunds.routes
        + Disputes.routes + Events.routes + WebhookEndpoints.routes + PortalSessions.routes
        + TestClocks.routes + Coupons.routes + SetupIntents.routes + PaymentLinks.routes
        + PaymentPages.routes + TaxRates.routes + CustomerBalance.routes + Discounts.routes
        + EphemeralKeys.routes + Accounts.routes + CreditNotes.routes
}
