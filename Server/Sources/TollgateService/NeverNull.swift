internal import Stores
internal import StrictJSON
internal import TollgateAPI

/// A body with parameters that may be left out and are never `null`.
///
/// Swift reads `null` as left out. To mean "nobody" or "no address" by it is a mistake that a
/// caller must hear of: `{"customer":null}` would end the sessions of whoever asks.
protocol NeverNull {
    /// Paths such as `age.stated_at`; a name that leads through an array is about every element.
    static var neverNull: [String] { get }
}

extension API.CreateCustomerSessionRequest: NeverNull {
    static let neverNull = [
        "components.buy_button", "components.active_entitlements", "components.customer_portal",
    ]
}

extension API.CheckoutSessionRequest: NeverNull {
    static let neverNull = ["storefront", "origin_context"]
}

extension API.BuyButtonCheckoutRequest: NeverNull {
    static let neverNull = ["storefront"]
}

extension API.AppStoreReceiptRequest: NeverNull {
    static let neverNull = ["customer", "mode"]
}

extension API.GooglePlayExternalTransactionsRequest: NeverNull {
    static let neverNull = [
        "external_transaction_token", "region_code", "administrative_area",
        "included_tax_percent", "package_name", "link", "link.type",
        "link.installed_app_package", "link.installed_app_category",
        "link.app_download_transaction",
    ]
}

extension API.SigningKeyRotation: NeverNull {
    static let neverNull = ["at_once", "forget_former"]
}

extension API.SessionRevocationRequest: NeverNull {
    static let neverNull = ["customer", "client_secret"]
}

extension API.PurchaseAssignment: NeverNull {
    static let neverNull = ["customer"]
}

extension API.ConsentsRequest: NeverNull {
    static let neverNull = ["terms", "terms.accepted_at", "age.stated_at"]
}

extension API.WebhookEndpointRequest: NeverNull {
    static let neverNull = ["url", "description", "enabled_events", "enabled", "starting_after"]
}

extension API.WebhookSecretRotation: NeverNull {
    static let neverNull = ["overlap"]
}

extension API.WebhookReplayRequest: NeverNull {
    static let neverNull = ["event", "starting_after", "dead"]
}

extension NeverNull {
    /// - Throws: a refusal 400 `parameter_invalid` that names the parameter.
    static func refuseNulls(in body: JSON) throws {
        for path in neverNull where isNull(body, path.split(separator: ".").map(String.init)) {
            throw Refusal.invalid(path, "\(path) is null; give it a value or leave it out.")
        }
    }

    private static func isNull(_ value: JSON, _ path: [String]) -> Bool {
        guard let name = path.first else { return value.isNull }
        if value.kind == .array { return value.elements.contains { isNull($0, path) } }
        return value[named: name].map { isNull($0, Array(path.dropFirst())) } ?? false
    }
}
