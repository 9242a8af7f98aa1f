internal import Foundation
internal import Stores
internal import StrictJSON
public import TollgateAPI

/// A request's body, read strictly.
public enum StrictBody {
    /// Reads JSON of this shape.
    ///
    /// - Throws: refusals `malformed_body`, `parameter_missing`, `parameter_invalid`.
    public static func decode<Value: Decodable>(
        _ type: Value.Type,
        from bytes: [UInt8]
    ) throws -> Value {
        let json: JSON
        do {
            json = try JSON(bytes)
        } catch {
            throw Refusal(
                400,
                .malformedBody,
                "The body is not JSON that this server accepts: \(error)."
            )
        }
        try (type as? any NeverNull.Type)?.refuseNulls(in: json)
        do {
            return try APIJSON.decode(type, from: Data(bytes))
        } catch let error as DecodingError {
            throw refusal(error)
        }
    }

    private static func refusal(_ error: DecodingError) -> Refusal {
        func path(_ context: DecodingError.Context, _ key: (any CodingKey)? = nil) -> String {
            (context.codingPath + (key.map { [$0] } ?? [])).map(\.stringValue).joined(
                separator: "."
            )
        }
        switch error {
        case .keyNotFound(let key, let context):
            let name = path(context, key)
            return Refusal(400, .parameterMissing, "Missing required param: \(name).", param: name)
        case .typeMismatch(_, let context), .valueNotFound(_, let context),
            .dataCorrupted(let context):
            let name = path(context)
            return Refusal(
                400,
                .parameterInvalid,
                name.isEmpty ? "The body must be an object." : "\(name) is not of the right kind.",
                param: name.isEmpty ? nil : name
            )
        @unknown default:
            return Refusal(400, .malformedBody, "The body cannot be read.")
        }
    }

    /// Reads a form as Stripe's client libraries send it: `a[b][c]=v`.
    public static func form(_ bytes: [UInt8]) throws -> [String: String] {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Refusal(400, .malformedBody, "The form is not UTF-8.")
        }
        var fields: [String: String] = [:]
        for pair in text.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            func decoded(_ part: Substring) -> String? {
                part.replacingOccurrences(of: "+", with: " ").removingPercentEncoding
            }
            guard let name = decoded(parts[0]), let value = decoded(parts.count > 1 ? parts[1] : "")
            else {
                throw Refusal(400, .malformedBody, "The form is badly escaped.")
            }
            guard fields.updateValue(value, forKey: name) == nil else {
                throw Refusal.invalid(name, "\(name) was given twice.")
            }
        }
        return fields
    }

    /// Refuses what the form would refuse: a component that we do not have would otherwise be taken
    /// for one that was enabled.
    private static func refuseUnknown(in bytes: [UInt8]) throws {
        guard let body = try? JSON(bytes) else { return }
        func unknown(_ name: String) -> Refusal {
            Refusal(400, .parameterUnknown, "Received unknown parameter: \(name)", param: name)
        }
        for (name, _) in body.members where !["customer", "components", "app"].contains(name) {
            throw unknown(name)
        }
        let known = ["buy_button", "active_entitlements", "customer_portal"]
        guard let components = body["components"] else { return }
        for (name, component) in components.members {
            guard known.contains(name) else { throw unknown("components[\(name)]") }
            for (field, _) in component.members where field != "enabled" {
                throw unknown("components[\(name)][\(field)]")
            }
        }
    }

    /// A request for a customer session, as form or as JSON.
    public static func customerSession(
        _ bytes: [UInt8],
        isForm: Bool
    ) throws -> API.CreateCustomerSessionRequest {
        guard isForm else {
            let request = try decode(API.CreateCustomerSessionRequest.self, from: bytes)
            try refuseUnknown(in: bytes)
            return request
        }
        var fields = try form(bytes)
        guard let customer = fields.removeValue(forKey: "customer") else {
            throw Refusal.missingParameter("customer")
        }
        let app = fields.removeValue(forKey: "app")
        var components = API.SessionComponents()
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
            guard let enabled = Bool(value.lowercased()) else {
                throw Refusal.invalid(name, "\(name) is true or false.")
            }
            switch name {
            case "components[buy_button][enabled]": components.buyButton = .init(enabled: enabled)
            case "components[active_entitlements][enabled]":
                components.activeEntitlements = .init(enabled: enabled)
            case "components[customer_portal][enabled]":
                components.customerPortal = .init(enabled: enabled)
            default:
                throw Refusal(
                    400,
                    .parameterUnknown,
                    "Received unknown parameter: \(name)",
                    param: name
                )
            }
        }
        return API.CreateCustomerSessionRequest(
            customer: customer,
            components: components,
            app: app
        )
    }
}
