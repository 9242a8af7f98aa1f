import AsyncHTTPClient
import Foundation
import StripeAPI
import TollgateCore
import TollgateService

/// What can be wrong with Stripe: the key and its rights, the webhook endpoint, the catalog's prices.
struct StripeChecks {
    let settings: ServeSettings

    /// The events that docs/stripe.md names, each of which says something that no other says.
    private static let events = [
        "checkout.session.completed", "checkout.session.async_payment_succeeded",
        "checkout.session.async_payment_failed", "checkout.session.expired",
        "customer.subscription.created", "customer.subscription.updated",
        "customer.subscription.deleted", "invoice.paid", "invoice.voided",
        "invoice.marked_uncollectible", "payment_intent.succeeded", "refund.created",
        "refund.updated", "refund.failed", "charge.dispute.created", "charge.dispute.updated",
        "charge.dispute.closed", "entitlements.active_entitlement_summary.updated",
    ]

    func all(over client: HTTPClient) async -> [Finding] {
        guard let stripe = settings.stores.stripe(over: client) else {
            return [.skipped("stripe", "Stripe is not set up.")]
        }
        let key = await key(stripe)
        guard key.state == .ok else { return [key] }
        return [key, await endpoint(stripe)] + (await prices(stripe))
    }

    private func key(_ stripe: Stripe.Client) async -> Finding {
        do throws(Stripe.RequestError) {
            _ = try await stripe.list(["customers"], of: Stripe.Customer.self)
            return .ok("stripe.key", "Stripe takes the key.")
        } catch {
            let remedy: Sentence =
                switch error {
                case .refused(let refusal) where refusal.status == 401:
                    "Copy the key from Stripe's dashboard, Developers, API keys, into TOLLGATE_STRIPE_SECRET_KEY."
                case .refused(let refusal) where refusal.status == 403:
                    "Give the restricted key the rights that docs/stripe.md lists."
                default: "Try again later; if it stays so, look at the network of this machine."
                }
            return .failed("stripe.key", "\(error)", remedy)
        }
    }

    /// Whether a restricted key may not do this: that is no fault, a server needs no such right.
    private static func mayNot(_ error: Stripe.RequestError) -> Bool {
        guard case .refused(let refusal) = error else { return false }
        return refusal.status == 403
    }

    // MARK: - The webhook endpoint

    private func endpoint(_ stripe: Stripe.Client) async -> Finding {
        let name = "stripe.webhook_endpoint"
        guard let publicURL = settings.publicURL else {
            return .skipped(name, "TOLLGATE_PUBLIC_URL is not set: the endpoint is not known.")
        }
        let base = publicURL.hasSuffix("/") ? String(publicURL.dropLast()) : publicURL
        let url = base + "/webhooks/stripe"
        do {
            let endpoints = try await Self.endpoints(stripe)
            if let ours = endpoints.first(where: { $0.url == url }) { return judge(ours) }
            let others = endpoints.map { Self.name(of: $0.url, besides: base) }
                .joined(separator: ", ")
            let found = others.isEmpty ? "none" : others
            return .failed(
                name,
                "Stripe sends no events to \(url); its endpoints: \(found).",
                "Add the endpoint in Stripe's dashboard, with the events that docs/stripe.md lists, and put its signing secret into TOLLGATE_STRIPE_WEBHOOK_SECRETS."
            )
        } catch let error as Stripe.RequestError where Self.mayNot(error) {
            return .skipped(name, "The key may not read webhook endpoints.")
        } catch {
            return .failed(name, "\(error)", "Try again later.")
        }
    }

    private static func endpoints(
        _ stripe: Stripe.Client
    ) async throws -> [Stripe.WebhookEndpoint] {
        var endpoints: [Stripe.WebhookEndpoint] = []
        for try await endpoint in stripe.lists.webhookEndpoints() { endpoints.append(endpoint) }
        return endpoints
    }

    /// The address of an endpoint on our own server, without its query; of another one its host.
    ///
    /// The addresses of chats and other services are secrets.
    private static func name(of url: String, besides base: String) -> String {
        guard let parts = URLComponents(string: url), let host = parts.host else {
            return "one without a host"
        }
        guard host == URLComponents(string: base)?.host else { return host }
        let port = parts.port.map { ":\($0)" } ?? ""
        return "\(parts.scheme ?? "https")://\(host)\(port)\(parts.path)"
    }

    private func judge(_ endpoint: Stripe.WebhookEndpoint) -> Finding {
        let name = "stripe.webhook_endpoint"
        guard endpoint.status == "enabled" else {
            return .failed(
                name,
                "The endpoint \(endpoint.url) is \(endpoint.status).",
                "Enable it in Stripe's dashboard. Stripe disables one that fails for days."
            )
        }
        let enabled = Set(endpoint.enabledEvents)
        let missing = enabled.contains("*") ? [] : Self.events.filter { !enabled.contains($0) }
        guard missing.isEmpty else {
            return .failed(
                name,
                "The endpoint \(endpoint.url) gets no \(missing.joined(separator: ", ")).",
                "Add these events in Stripe's dashboard. What was missed is found within ten minutes."
            )
        }
        guard endpoint.apiVersion == Stripe.apiVersion else {
            return .warning(
                name,
                "The endpoint \(endpoint.url) speaks \(endpoint.apiVersion ?? "the account's version") of the API.",
                "Make a new endpoint with \(Stripe.apiVersion): until then each event is read again from Stripe."
            )
        }
        return .ok(name, "Stripe sends every event that counts to \(endpoint.url).")
    }

    // MARK: - Prices

    private func prices(_ stripe: Stripe.Client) async -> [Finding] {
        var findings: [Finding] = []
        var count = 0
        for product in settings.catalog.products {
            for (index, id) in product.stripePriceIDs.enumerated() {
                count += 1
                do throws(Stripe.RequestError) {
                    let price = try await stripe.price(id).value
                    // Old prices stay in the list for those who still pay them.
                    if index == 0, !price.active, !product.isRetired {
                        findings.append(
                            .warning(
                                "stripe.prices",
                                "\(product.id): the price \(id), the first in the list, is not active at Stripe.",
                                "Put the price that is sold now first."
                            )
                        )
                    }
                } catch {
                    if Self.mayNot(error) {
                        return [.skipped("stripe.prices", "The key may not read prices.")]
                    }
                    let isMissing = error.isMissing("price") || error.isMissing("id")
                    findings.append(
                        .failed(
                            "stripe.prices",
                            isMissing
                                ? "\(product.id): Stripe has no price \(id)."
                                : "\(product.id): \(error)",
                            isMissing
                                ? "Correct stripe_price_ids in the catalog. Prices of test mode are not those of live mode."
                                : "Try again later."
                        )
                    )
                }
            }
        }
        guard findings.isEmpty else { return findings }
        return [.ok("stripe.prices", "Stripe has all \(count) prices of the catalog.")]
    }
}
