import Foundation
import Hummingbird
import NIOCore
import SandboxClock

/// The sandbox's own interface, under `/sandbox`: to act as the customer, as Apple, and as time.
struct ControlRoutes: Sendable {
    var store: SimulatedAppStore

    func add(to router: some RouterMethods<BasicRequestContext>) {
        let control = router.group("sandbox").add(middleware: RefusalMiddleware())
        addClock(to: control)
        addSetUp(to: control)
        addBehaviour(to: control)
        addCustomers(to: control)
        addActsOfCustomers(to: control)
        addSubscriptions(to: control)
        addTransactions(to: control)
        addNotifications(to: control)
        RetentionRoutes(store: store).addControl(to: control)
    }

    private func addClock(to control: RouterGroup<BasicRequestContext>) {
        control.get("clock") { [store] _, _ in
            try Response.json(ControlBody.Clock(now: await store.clock.now))
        }
        control.post("clock/advance") { [store] request, _ in
            let body: ControlBody.Advance = try await request.control()
            let now = await store.clock.now
            // A hundred years in one step are more than any story needs, and every instant still fits.
            guard let target = body.to ?? body.by.map({ now.addingClamped($0) }), target >= now,
                target <= now.addingClamped(100 * 366 * 86_400_000)
            else {
                throw SimulatedAppStore.Refusal.invalid(
                    "Give to (milliseconds, not in the past) or by (milliseconds, not negative); a hundred years at most."
                )
            }
            await store.clock.advance(to: target)
            await store.noteTime()
            return try Response.json(ControlBody.Clock(now: await store.clock.now))
        }
    }

    private func addSetUp(to control: RouterGroup<BasicRequestContext>) {
        control.get("root.der") { [store] _, _ in
            Response(
                status: .ok,
                headers: [.contentType: "application/pkix-cert"],
                body: .init(byteBuffer: ByteBuffer(bytes: store.rootDER))
            )
        }
        control.get("app") { [store] _, _ in try Response.json(await store.app()) }
        control.put("app") { [store] request, _ in
            let body: ControlBody.App = try await request.control()
            await store.setUp(body)
            return try Response.json(await store.app())
        }
        control.get("products") { [store] _, _ in
            try Response.json(ControlBody.List(data: await store.products()))
        }
        control.put("products") { [store] request, _ in
            let body: ControlBody.List<SimulatedAppStore.Product> = try await request.control()
            await store.setProducts(body.data)
            return try Response.json(ControlBody.List(data: await store.products()))
        }
        control.post("products/:id/price") { [store] request, context in
            let body: ControlBody.Price = try await request.control()
            try await store.raisePrice(
                of: try context.parameters.require("id"),
                to: body.price,
                consentRequired: body.consentRequired ?? false
            )
            return try Response.json(ControlBody.List(data: await store.products()))
        }
        control.post("products/:id/extend") { [store] request, context in
            let body: ControlBody.MassExtension = try await request.control()
            let now = await store.clock.now
            return try Response.json(
                await store.extendAll(
                    productID: try context.parameters.require("id"),
                    days: body.days,
                    identifier: body.requestIdentifier ?? "extension-\(now)"
                )
            )
        }
        control.post("products/:id/withdraw") { [store] request, context in
            try await request.requireNoKeys()
            try await store.withdraw(productID: try context.parameters.require("id"))
            return try Response.json(ControlBody.List(data: await store.products()))
        }
    }

    /// Buys for a customer by id, or by token; an unknown token is a new account's.
    private func buy(_ purchase: ControlBody.Purchase) async throws
        -> SimulatedAppStore.SignedTransaction
    {
        let buyer: String
        if let id = purchase.customer {
            buyer = id
        } else if let token = purchase.appAccountToken {
            if let known = await store.customer(appAccountToken: token) {
                buyer = known.id
            } else {
                buyer = try await store.createCustomer(appAccountToken: token).id
            }
        } else {
            buyer = try await store.createCustomer().id
        }
        return try await store.buy(
            purchase.productID,
            customer: buyer,
            appAccountToken: purchase.appAccountToken,
            quantity: purchase.quantity ?? 1,
            offer: purchase.offer,
            proof: purchase.proof
        )
    }

    /// How the store itself behaves, and by what it is known.
    private func addBehaviour(to control: RouterGroup<BasicRequestContext>) {
        control.get("api_key") { [store] _, _ in
            let key = await store.apiKey
            return try Response.json(
                ControlBody.Key(
                    keyID: key.keyID,
                    issuerID: key.issuerID,
                    privateKey: key.privateKeyPEM,
                    publicKey: key.publicKeyPEM
                )
            )
        }
        control.put("api_key") { [store] request, _ in
            let body: ControlBody.Key = try await request.control()
            guard let publicKey = body.publicKey else {
                throw SimulatedAppStore.Refusal.invalid("public_key is missing.")
            }
            await store.register(
                .init(
                    keyID: body.keyID,
                    issuerID: body.issuerID,
                    privateKeyPEM: "",
                    publicKeyPEM: publicKey
                )
            )
            return Response.empty()
        }
        control.put("ocsp") { [store] request, _ in
            let body: ControlBody.OCSP = try await request.control()
            await store.setOCSPAnswer(body.answer)
            return Response.empty()
        }
        control.put("report_differences") { [store] request, _ in
            let body: ControlBody.List<SimulatedAppStore.ReportDifference> =
                try await request.control()
            await store.setReportDifferences(body.data)
            return Response.empty()
        }
        control.put("behaviour") { [store] request, _ in
            let behaviour: SimulatedAppStore.Behaviour = try await request.control()
            await store.setBehaviour(behaviour)
            return Response.empty()
        }
        control.put("faults") { [store] request, _ in
            let faults: SimulatedAppStore.Faults = try await request.control()
            await store.setFaults(faults)
            return Response.empty()
        }
    }

    private func addCustomers(to control: RouterGroup<BasicRequestContext>) {
        control.post("customers") { [store] request, _ in
            let body: ControlBody.NewCustomer = try await request.control()
            return try Response.json(
                await store.createCustomer(
                    appAccountToken: body.appAccountToken,
                    storefront: body.storefront ?? "USA",
                    family: body.family,
                    hasDownloadedApp: body.hasDownloadedApp ?? true,
                    preorderDate: body.preorderDate
                ),
                status: HTTPResponse.Status.created
            )
        }
        control.get("customers") { [store] _, _ in
            try Response.json(ControlBody.List(data: await store.customers()))
        }
        control.get("customers/:id") { [store] _, context in
            try Response.json(await store.customer(try context.parameters.require("id")))
        }
        control.post("customers/:id/download") { [store] request, context in
            try await request.requireNoKeys()
            let id = try context.parameters.require("id")
            try await store.download(customer: id)
            return try Response.json(await store.customer(id))
        }
        control.get("customers/:id/transactions") { [store] _, context in
            try Response.json(
                await store.entitlements(customer: try context.parameters.require("id"))
            )
        }
        control.get("customers/:id/receipt") { [store] _, context in
            try Response.json(
                ControlBody.Receipt(
                    receiptData: await store.receipt(
                        customer: try context.parameters.require("id")
                    )
                )
            )
        }
        control.get("transactions/:id/receipt") { [store] _, context in
            try Response.json(
                ControlBody.Receipt(
                    receiptData: await store.transactionReceipt(
                        try context.parameters.require("id")
                    )
                )
            )
        }
        control.get("customers/:id/orders") { [store] _, context in
            let id = try context.parameters.require("id")
            return try Response.json(
                ControlBody.List(data: await store.transactions(customer: id).map(\.orderID))
            )
        }
        control.post("purchases") { request, _ in
            let body: ControlBody.Purchase = try await request.control()
            return try Response.json(await buy(body), status: HTTPResponse.Status.created)
        }
    }

    private func addActsOfCustomers(to control: RouterGroup<BasicRequestContext>) {
        control.post("customers/:id/family") { [store] request, context in
            let body: ControlBody.Family = try await request.control()
            let id = try context.parameters.require("id")
            try await store.join(family: body.family, customer: id)
            return try Response.json(await store.customer(id))
        }
        control.post("customers/:id/restore") { [store] request, context in
            try await request.requireNoKeys()
            let id = try context.parameters.require("id")
            return try Response.json(ControlBody.List(data: await store.restore(customer: id)))
        }
        control.post("customers/:id/billing/fail") { [store] request, context in
            try await request.requireNoKeys()
            let id = try context.parameters.require("id")
            try await store.failBilling(customer: id)
            return try Response.json(await store.customer(id))
        }
        control.post("customers/:id/billing/recover") { [store] request, context in
            try await request.requireNoKeys()
            let id = try context.parameters.require("id")
            try await store.recoverBilling(customer: id)
            return try Response.json(await store.customer(id))
        }
    }

    private func addSubscriptions(to control: RouterGroup<BasicRequestContext>) {
        func act(
            _ verb: String,
            _ action: @escaping @Sendable (Request, String) async throws -> Void
        ) {
            control.post("subscriptions/:id/\(verb)") { [store] request, context in
                let id = try context.parameters.require("id")
                try await action(request, id)
                return try Response.json(
                    ControlBody.SubscriptionState(await store.subscription(id))
                )
            }
        }
        control.get("subscriptions/:id") { [store] _, context in
            let id = try context.parameters.require("id")
            return try Response.json(ControlBody.SubscriptionState(await store.subscription(id)))
        }
        act("cancel") { [store] request, id in
            try await request.requireNoKeys()
            try await store.cancel(id)
        }
        act("resume") { [store] request, id in
            try await request.requireNoKeys()
            try await store.resume(id)
        }
        act("consent") { [store] request, id in
            try await request.requireNoKeys()
            try await store.consentToPriceIncrease(id)
        }
        act("revoke_family_share") { [store] request, id in
            try await request.requireNoKeys()
            try await store.revokeFamilyShare(id)
        }
        act("end") { [store] request, id in
            try await request.requireNoKeys()
            try await store.end(id)
        }
        addSeatsAndBundles(act)
        act("attach") { [store] request, id in
            let body: ControlBody.Attachment = try await request.control()
            try await store.attach(appAccountToken: body.appAccountToken, to: id)
        }
        act("extend") { [store] request, id in
            let body: ControlBody.Extension = try await request.control()
            try await store.extend(id, days: body.days)
        }
        control.post("subscriptions/:id/change") { [store] request, context in
            let body: ControlBody.Change = try await request.control()
            return try Response.json(
                await store.changePlan(
                    try context.parameters.require("id"),
                    to: body.productID
                )
            )
        }
        control.post("subscriptions/:id/redeem") { [store] request, context in
            let body: ControlBody.Redemption = try await request.control()
            return try Response.json(
                await store.redeemOffer(
                    try context.parameters.require("id"),
                    offer: body.offer,
                    productID: body.productID
                )
            )
        }
    }

    private typealias Act = @Sendable (Request, String) async throws -> Void

    private func addSeatsAndBundles(_ act: (String, @escaping Act) -> Void) {
        act("add_seats") { [store] request, id in
            let body: ControlBody.Seats = try await request.control()
            _ = try await store.addSeats(body.seats, to: id)
        }
        act("assign_seat") { [store] request, id in
            let body: ControlBody.SeatHolder = try await request.control()
            try await store.assignSeat(of: id, to: body.customer)
        }
        act("switch_to_bundle") { [store] request, id in
            try await request.requireNoKeys()
            _ = try await store.switchToBundle(id)
        }
        act("migrate") { [store] request, id in
            try await request.requireNoKeys()
            _ = try await store.migrate(id)
        }
    }

    private func addTransactions(to control: RouterGroup<BasicRequestContext>) {
        func act(
            _ verb: String,
            _ action: @escaping @Sendable (Request, String) async throws -> Void
        ) {
            control.post("transactions/:id/\(verb)") { [store] request, context in
                let id = try context.parameters.require("id")
                try await action(request, id)
                return try Response.json(await store.signedTransaction(id))
            }
        }
        act("refund") { [store] request, id in
            let body: ControlBody.Refund = try await request.control()
            if let seats = body.seats { return try await store.refundSeats(seats, of: id) }
            try await store.refund(id, reason: body.reason ?? 0, percentage: body.percentage)
        }
        act("reverse") { [store] request, id in
            try await request.requireNoKeys()
            try await store.reverseRefund(id)
        }
        act("finish") { [store] request, id in
            try await request.requireNoKeys()
            try await store.finish(id)
        }
        act("request_refund") { [store] request, id in
            let body: ControlBody.RefundRequest = try await request.control()
            try await store.requestRefund(id, reason: body.reason ?? "UNINTENDED_PURCHASE")
        }
        act("decline_refund") { [store] request, id in
            try await request.requireNoKeys()
            try await store.declineRefund(id)
        }
        act("tell") { [store] request, id in
            let body: ControlBody.Notice = try await request.control()
            try await store.tell(body.type, subtype: body.subtype, about: id)
        }
        control.get("transactions/:id") { [store] _, context in
            try Response.json(await store.signedTransaction(try context.parameters.require("id")))
        }
    }

    private func addNotifications(to control: RouterGroup<BasicRequestContext>) {
        control.get("notifications") { [store] _, _ in
            let all = await store.notifications()
            return try Response.json(
                ControlBody.Listing(data: all.map(ControlBody.NotificationState.init))
            )
        }
        control.post("notifications/test") { [store] request, _ in
            try await request.requireNoKeys()
            return try Response.json(
                ControlBody.TestNotification(token: await store.requestTestNotification())
            )
        }
        control.get("consumption") { [store] _, _ in
            try Response.json(ControlBody.List(data: await store.consumptionAnswers()))
        }
    }
}

/// Turns refusals into 404, 409 and 400.
struct RefusalMiddleware: RouterMiddleware {
    typealias Context = BasicRequestContext

    func handle(
        _ request: Request,
        context: BasicRequestContext,
        next: (Request, BasicRequestContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let refusal as SimulatedAppStore.Refusal {
            struct Body: Encodable {
                struct Error: Encodable {
                    var message: String
                }
                var error: Error
            }
            let status: HTTPResponse.Status =
                switch refusal {
                case .notFound: .notFound
                case .notPossible: .conflict
                case .invalid: .badRequest
                }
            return try Response.json(
                Body(error: .init(message: refusal.description)),
                status: status
            )
        }
    }
}

extension Request {
    /// For a call that has nothing to say but its address.
    func requireNoKeys() async throws {
        _ = try await control(ControlBody.Nothing.self)
    }

    /// The body of a control call; none counts as `{}`.
    func control<Body: Decodable>(_ type: Body.Type = Body.self) async throws -> Body {
        let bytes = try await bytes()
        do {
            return try StrictKeys.decode(
                Body.self,
                from: bytes.isEmpty ? Data("{}".utf8) : bytes
            )
        } catch let unknown as StrictKeys.UnknownKey {
            throw SimulatedAppStore.Refusal.invalid(unknown.description)
        } catch {
            throw SimulatedAppStore.Refusal.invalid("The body cannot be read: \(error)")
        }
    }
}

extension Int64 {
    func addingClamped(_ other: Int64) -> Int64 {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? (other > 0 ? .max : .min) : sum
    }
}
