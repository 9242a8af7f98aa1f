import ArgumentParser
import AsyncHTTPClient
import CommandOutput
import Foundation
import GooglePlayAPI
import GooglePlayConnector
import TollgateCore
import TollgateService

/// What can be wrong with Google Play: the service account and its rights, the catalog's products.
struct GooglePlayChecks {
    let settings: ServeSettings

    func all(over client: HTTPClient) async -> [Finding] {
        guard settings.stores.googlePlay.isSetUp else {
            return [.skipped("google_play", "Google Play is not set up.")]
        }
        let setUp: GooglePlaySetUp
        do {
            setUp = try await settings.stores.googlePlay.setUp(over: client)
        } catch {
            return [
                .failed(
                    "google_play.key",
                    Sentence(quoting: (error as? ValidationError)?.message ?? PlainWords.of(error)),
                    "Make a key for the service account in Google Cloud, as JSON, and name its file."
                )
            ]
        }
        let now = await settings.clock.now(over: client)()
        var findings: [Finding] = []
        var sold: [String: [String]] = [:]
        var isComplete = true
        for app in setUp.apps {
            let key = await key(app.client, now)
            findings.append(key)
            guard key.state == .ok else {
                isComplete = false
                continue
            }
            do {
                sold.merge(try await products(app.client)) { $0 + $1 }
            } catch {
                isComplete = false
                findings.append(
                    .failed("google_play.products", "\(error)", "Give it View app information.")
                )
            }
        }
        if isComplete { findings.append(await notifications(setUp)) }
        return findings + (isComplete ? compare(sold) : [])
    }

    /// Lists what was voided in the last day, which needs the right to see orders.
    private func key(_ client: GooglePlay.Client, _ now: Instant) async -> Finding {
        do throws(GooglePlay.APIFault) {
            _ = try await client.voidedPurchases(from: now.milliseconds - 86_400_000)
            return .ok(
                "google_play.key",
                "Google takes the service account for \(client.packageName)."
            )
        } catch {
            let remedy: Sentence =
                error.meaning == .notAllowed
                ? "In the Play Console, Users and permissions, invite the service account with View app information, View financial data and Manage orders and subscriptions. New rights take up to a day."
                : "Try again later; if it stays so, look at the network of this machine."
            return .failed("google_play.key", "For \(client.packageName): \(error)", remedy)
        }
    }

    // MARK: - Notifications

    private func notifications(_ setUp: GooglePlaySetUp) async -> Finding {
        let name = "google_play.notifications"
        guard let pulls = setUp.pulls else {
            guard setUp.pushTokens == nil else {
                return .ok(name, "Pushed notifications are taken at /webhooks/google_play.")
            }
            return .warning(
                name,
                "Real-time developer notifications are neither pulled nor pushed.",
                "Set TOLLGATE_GOOGLE_PLAY_SUBSCRIPTION, or TOLLGATE_GOOGLE_PLAY_PUSH_AUDIENCE and TOLLGATE_GOOGLE_PLAY_PUSH_EMAIL."
            )
        }
        do throws(GooglePlay.APIFault) {
            return judge(try await pulls.describe(), pulls.subscription)
        } catch {
            guard case .refused(let refusal) = error.cause else {
                return .failed(name, "\(error)", "Try again later.")
            }
            return refusal.status == 403
                ? .skipped(name, "The service account may not describe \(pulls.subscription).")
                : .failed(
                    name,
                    "\(error)",
                    "Make the subscription in Google Cloud, and give the service account the role Pub/Sub Subscriber on it."
                )
        }
    }

    private func judge(_ found: GooglePlay.PubSubSubscription, _ subscription: String) -> Finding {
        let name = "google_play.notifications"
        if found.topic == "_deleted-topic_" {
            return .failed(
                name,
                "The topic of \(subscription) was deleted.",
                "Make a topic and a subscription anew, and name the topic in the Play Console, Monetisation setup."
            )
        }
        if let endpoint = found.pushEndpoint {
            // The rest of the address may be a secret: `?token=…`.
            let host = URLComponents(string: endpoint)?.host ?? "an address without a host"
            return .failed(
                name,
                "\(subscription) pushes to \(host), and this server pulls.",
                "Change its delivery type to Pull, or unset TOLLGATE_GOOGLE_PLAY_SUBSCRIPTION and set up pushes."
            )
        }
        if let seconds = found.expiresAfter {
            return .warning(
                name,
                "Pub/Sub deletes \(subscription) after \(seconds / 86_400) days in which nobody pulls.",
                "Edit the subscription: expiration period, never expire."
            )
        }
        return .ok(name, "\(subscription) can be pulled, and does not expire.")
    }

    // MARK: - Products

    /// What the Play Console sells: base plans by product id.
    private func products(
        _ client: GooglePlay.Client
    ) async throws(GooglePlay.APIFault) -> [String: [String]] {
        var sold: [String: [String]] = [:]
        var page: String?
        repeat {
            let answer = try await client.subscriptions(page: page).value
            sold.merge(answer.basePlans) { $0 + $1 }
            page = answer.next
        } while page != nil
        repeat {
            let answer = try await client.oneTimeProducts(page: page).value
            sold.merge(answer.basePlans) { $0 + $1 }
            page = answer.next
        } while page != nil
        return sold
    }

    private func compare(_ sold: [String: [String]]) -> [Finding] {
        let name = "google_play.products"
        var findings: [Finding] = []
        var count = 0
        for product in settings.catalog.products where !product.isRetired {
            for id in product.allGooglePlayProductIDs {
                count += 1
                guard let plans = sold[id] else {
                    findings.append(
                        .failed(
                            name,
                            "\(product.id): the Play Console has no product \(id).",
                            "Correct google_play_product_id in the catalog, or make the product there."
                        )
                    )
                    continue
                }
                let missing = (product.googlePlayBasePlans ?? []).filter { !plans.contains($0) }
                guard !missing.isEmpty else { continue }
                findings.append(
                    .failed(
                        name,
                        "\(product.id): the subscription \(id) has no base plan \(missing.joined(separator: ", ")).",
                        "Correct google_play_base_plans in the catalog, or make the base plan there."
                    )
                )
            }
        }
        guard findings.isEmpty else { return findings }
        return [.ok(name, "The Play Console has all \(count) products of the catalog.")]
    }
}
