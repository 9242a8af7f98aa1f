import Hummingbird

extension StripeSimulator {
    /// The hosted Checkout page of a session: shown, paid, challenged.
    func checkoutPage(_ method: String, _ id: String, _ form: [String: Form]) async -> Response {
        guard let session = world.get(.checkoutSession, id) else {
            return Pages.message(
                title: "Something went wrong",
                text: "The page you were looking for could not be "
                    + "found. Please check the URL or contact the merchant.",
                status: 404
            )
        }
        guard session["status"].string == "open" else { return closed(session) }
        guard method == "POST" else {
            return Pages.checkout(session, world, CheckoutEntry(session, world))
        }
        if case .text(let code)? = form["promotion_code"] {
            return applyPromotion(code, to: session)
        }
        if case .text(let email)? = form["wallet"] {
            var details = CardDetails(card: .success)
            details.email = email.isEmpty ? "wallet@example.com" : email
            details.name = "Wallet Holder"
            details.country = "US"
            details.postalCode = "94103"
            details.isFromWallet = true
            return await pay(session, CheckoutEntry(form), details)
        }
        let entry = CheckoutEntry(form)
        switch entry.validated(now: world.now) {
        case .failure(let decline):
            return Pages.checkout(session, world, entry, decline: decline)
        case .success(let details):
            return await pay(session, entry, details)
        }
    }

    /// A code that the payer typed; an empty one takes the discount off again.
    private func applyPromotion(_ typed: String, to session: JSON) -> Response {
        let id = session["id"].text
        let code = typed.filter { !$0.isWhitespace }.lowercased()
        var refusal: String?
        do {
            try CheckoutSessions.redeemOnPage(&world, code, session: id)
            changed()
        } catch {
            refusal = (error as? APIError)?.message ?? "This code cannot be used."
        }
        let current = world.get(.checkoutSession, id) ?? session
        return Pages.checkout(
            current,
            world,
            CheckoutEntry(current, world),
            promotion: (typed: typed, error: refusal)
        )
    }

    private func closed(_ session: JSON) -> Response {
        if session["status"].string == "complete" {
            return Pages.message(
                title: "You’re all done here",
                text: "This payment has been completed.",
                link: session["success_url"].string?
                    .replacing("{CHECKOUT_SESSION_ID}", with: session["id"].text),
                linkText: "Continue"
            )
        }
        return Pages.message(
            title: "This checkout session has timed out",
            text: "Nothing was charged. Go back to the app to start again.",
            link: session["cancel_url"].string,
            linkText: "Go back",
            status: 410
        )
    }

    private func pay(
        _ session: JSON,
        _ entry: CheckoutEntry,
        _ details: CardDetails
    ) async -> Response {
        let id = session["id"].text
        var form = CheckoutForm(details: details, savesCard: entry.savesCard)
        form.amount = Money.minor(entry.amount, session["currency"].text)
        if entry.challenge == "fail" {
            let decline = CheckoutSessions.failChallenge(&world, session: id)
            changed()
            return Pages.checkout(session, world, entry, decline: decline)
        }
        form.isAuthenticated = entry.challenge == "complete"
        let before = world
        do {
            switch try CheckoutSessions.pay(&world, session: id, form) {
            case .requiresAuthentication:
                changed()
                return Pages.challenge(session, entry)
            case .declined(let decline):
                changed()
                return Pages.checkout(
                    world.get(.checkoutSession, id) ?? session,
                    world,
                    entry,
                    decline: decline
                )
            case .completed(let url):
                world.perform(at: world.now)
                isDirty = true
                save()
                await awaitSubscribers(session: id)
                guard let url else {
                    return Pages.message(title: "Thank you", text: "Your payment is complete.")
                }
                return Pages.redirect(to: url)
            }
        } catch {
            world = before
            let message = (error as? APIError)?.message ?? "Something went wrong."
            return Pages.message(title: "This cannot be paid", text: message, status: 400)
        }
    }

    /// Holds the payer back until every endpoint that wants `checkout.session.completed` has taken
    /// it, at most ten seconds. https://docs.stripe.com/checkout/fulfillment
    private func awaitSubscribers(session: String) async {
        let started = configuration.instant()
        await flush()
        save()
        guard isPending(event: "checkout.session.completed", about: session) else { return }
        let left = configuration.redirectWait - started.duration(to: configuration.instant())
        if left > .zero { await configuration.pause(left) }
    }
}

/// What stands in the fields of the Checkout page.
struct CheckoutEntry: Sendable {
    var email = ""
    var card = ""
    var expiry = ""
    var cvc = ""
    var name = ""
    var country = "US"
    var postalCode = ""
    var savesCard = false
    var challenge: String?
    /// As the payer typed it, where the price leaves it to them.
    var amount = ""

    /// The fields as the page first shows them.
    init(_ session: JSON, _ world: World) {
        let customer = world.get(.customer, session["customer"].reference) ?? .null
        email = customer["email"].string ?? session["customer_email"].string ?? ""
        name = customer["name"].string ?? ""
        prefill(session, customer: customer, world)
    }

    /// In payment mode the latest saved card with a valid address fills its fields.
    private mutating func prefill(_ session: JSON, customer: JSON, _ world: World) {
        guard session["mode"].string == "payment", let id = customer["id"].string else { return }
        // The latest one decides: without a valid address nothing is filled in, whatever the
        // earlier ones have.
        guard let saved = world.all(.paymentMethod).last(where: { $0["customer"].string == id })
        else { return }
        let billing = saved["billing_details"]
        guard let home = billing["address"]["country"].string, home.count == 2,
            billing["address"]["postal_code"].string?.isEmpty == false,
            billing["email"].string?.isEmpty == false
        else { return }
        email = billing["email"].string ?? email
        name = billing["name"].string ?? name
        country = billing["address"]["country"].string ?? country
        postalCode = billing["address"]["postal_code"].string ?? ""
        card = saved["_card"].text
        let month = saved["card"]["exp_month"].count
        expiry = (month < 10 ? "0" : "") + "\(month) / \(saved["card"]["exp_year"].count % 100)"
    }

    /// The fields as they were sent.
    init(_ form: [String: Form]) {
        func text(_ name: String) -> String {
            guard case .text(let value)? = form[name] else { return "" }
            return String(value.prefix(200))
        }
        email = text("email")
        card = text("card")
        expiry = text("expiry")
        cvc = text("cvc")
        name = text("name")
        country = text("country").isEmpty ? "US" : String(text("country").prefix(2))
        postalCode = text("postal_code")
        savesCard = text("save") == "true"
        amount = text("amount")
        challenge = form["challenge"] == nil ? nil : text("challenge")
    }

    /// What the page itself finds wrong, or the details to pay with.
    /// - Parameter instant: the virtual present; a card expires by it.
    func validated(now instant: Int) -> Result<CardDetails, Decline> {
        guard email.contains("@"), !email.hasPrefix("@"), !email.hasSuffix("@") else {
            return .failure(.entry("Your email is incomplete.", "email"))
        }
        guard TestCard.isPlausible(card.filter { $0 != " " }) else {
            return .failure(.entry("Your card number is invalid.", "number"))
        }
        guard let known = TestCard.numbered(card) else {
            return .failure(
                .entry("This is no test card. No real card is accepted here.", "number")
            )
        }
        let parts = expiry.split(separator: "/").map { $0.filter(\.isNumber) }
        guard parts.count == 2, let month = Int(parts[0]), let given = Int(parts[1]),
            (1...12).contains(month), given < 10_000
        else { return .failure(.entry("Your card's expiration date is incomplete.", "expiry")) }
        let year = given < 100 ? 2_000 + given : given
        let today = CalendarDate(instant)
        guard (year, month) >= (today.year, today.month) else {
            return .failure(.entry("Your card's expiration date is in the past.", "expiry"))
        }
        if challenge == nil {
            guard (3...4).contains(cvc.count), cvc.allSatisfy({ $0.isASCII && $0.isNumber }) else {
                return .failure(.entry("Your card's security code is incomplete.", "cvc"))
            }
        }
        var details = CardDetails(card: known, expiryMonth: month, expiryYear: year)
        details.email = email
        details.name = name.isEmpty ? nil : name
        details.country = country
        details.postalCode = postalCode.isEmpty ? nil : postalCode
        return .success(details)
    }
}

extension Decline: Error {
    /// Something that the page finds before any bank is asked.
    fileprivate static func entry(_ message: String, _ field: String) -> Decline {
        Decline(
            code: "incomplete_\(field)",
            declineCode: "incomplete",
            message: message,
            parameter: field
        )
    }
}
