import Foundation
import Hummingbird

extension Pages {
    static func portal(
        _ session: JSON,
        _ world: World,
        notice: String? = nil,
        error: String? = nil
    ) -> Response {
        let customer = session["customer"].text
        let configuration = world.get(.portalConfiguration, session["configuration"].string)
        let features = configuration?["features"] ?? .null
        let subscriptions = world.all(.subscription).reversed().filter { subscription in
            subscription["customer"].string == customer && !Subscriptions.isOver(subscription)
        }
        let invoices = world.all(.invoice).reversed().filter {
            $0["customer"].string == customer && $0["status"].string != "draft"
        }
        let method = PaymentMethods.defaultMethod(
            world,
            of: customer,
            subscription: subscriptions.first
        )
        var values: [String: Any] = [
            "title": "Customer portal",
            "email": world.get(.customer, customer)?["email"].string ?? "",
            "subscriptions": subscriptions.map { plan($0, world, features) },
            "canUpdateCard": features["payment_method_update"]["enabled"].bool ?? false,
            "showsInvoices": features["invoice_history"]["enabled"].bool ?? false,
            "card": method.map {
                "\($0["card"]["brand"].text.capitalized) ending in \($0["card"]["last4"].text)"
            } ?? "No card is saved.",
            "invoices": invoices.prefix(24).map { invoice -> [String: Any] in
                [
                    "url": "/i/\(invoice["id"].text)",
                    "date": CalendarDate(invoice["created"].count).words,
                    "status": invoice["status"].text,
                    "amount": Money.words(invoice["total"].count, invoice["currency"].text),
                ]
            },
        ]
        if let url = session["return_url"].string { values["returnURL"] = url }
        if let notice { values["notice"] = notice }
        if let error { values["error"] = error }
        return render("portal", values, status: error == nil ? 200 : 400)
    }

    private static func plan(
        _ subscription: JSON,
        _ world: World,
        _ features: JSON
    ) -> [String: Any] {
        let items = subscription["items"].elements
        let price = items.first?["price"] ?? .null
        let end = items.first?["current_period_end"].count ?? 0
        let isEnding = !subscription["cancel_at"].isNull
        let day = CalendarDate(subscription["cancel_at"].int ?? end).words
        let amount = Money.words(
            Prices.amount(of: price, items.first?["quantity"].int ?? 1),
            price["currency"].text
        )
        let prices = PortalSessions.prices(for: subscription, features)
            .compactMap { world.get(.price, $0) }
        return [
            "id": subscription["id"].text, "name": Products.name(world, of: price),
            "price": "\(amount) \(period(price["recurring"]))",
            "status": subscription["status"].text.replacing("_", with: " "),
            "renewal": isEnding ? "Ends on \(day)." : "Renews on \(day).",
            "canCancel": !isEnding && features["subscription_cancel"]["enabled"].bool == true,
            "canResume": isEnding,
            "canSwitch": !prices.isEmpty && !isEnding
                && features["subscription_update"]["enabled"].bool == true,
            "prices": prices.map { price -> [String: Any] in
                let amount = Money.words(Prices.amount(of: price, 1), price["currency"].text)
                return [
                    "id": price["id"].text,
                    "label": "\(Products.name(world, of: price)), \(amount) "
                        + period(price["recurring"]),
                ]
            },
        ]
    }

    static func confirmCancellation(
        of id: String,
        _ session: JSON,
        _ world: World
    ) -> Response {
        let items = world.get(.subscription, id)?["items"].elements ?? []
        let name = items.first.map { Products.name(world, of: $0["price"]) } ?? "plan"
        let end = CalendarDate(items.first?["current_period_end"].count ?? 0).words
        return render(
            "confirm",
            [
                "title": "Cancel \(name)?", "subscription": id, "action": "cancel",
                "button": "Cancel plan", "back": "/p/session/\(session["_token"].text)",
                "text": "You keep what you paid for until \(end); then the plan ends.",
            ]
        )
    }
}
