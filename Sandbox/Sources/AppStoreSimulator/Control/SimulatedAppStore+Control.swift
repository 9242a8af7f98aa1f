extension SimulatedAppStore {
    func app() -> ControlBody.App {
        ControlBody.App(
            bundleID: world.bundleID,
            appAppleID: world.appAppleID,
            environment: environment,
            notificationURL: world.notificationURL,
            notificationVersion: world.notificationVersion,
            sharedSecret: sharedSecret
        )
    }

    /// What is left out stays as it is; an empty notification URL stands for none.
    func setUp(_ app: ControlBody.App) async {
        setApp(
            bundleID: app.bundleID ?? world.bundleID,
            appAppleID: app.appAppleID ?? world.appAppleID
        )
        if let version = app.notificationVersion { await setNotificationVersion(version) }
        if let secret = app.sharedSecret { setSharedSecret(secret) }
        if let url = app.notificationURL { setNotificationURL(url.isEmpty ? nil : url) }
    }

    /// Buys for a customer by id, or by token; an unknown token is a new account's.
    func buy(_ purchase: ControlBody.Purchase) async throws -> SignedTransaction {
        let buyer: String
        if let id = purchase.customer {
            buyer = id
        } else if let token = purchase.appAccountToken {
            if let known = customer(appAccountToken: token) {
                buyer = known.id
            } else {
                buyer = try await createCustomer(appAccountToken: token).id
            }
        } else {
            buyer = try await createCustomer().id
        }
        return try await buy(
            purchase.productID,
            customer: buyer,
            appAccountToken: purchase.appAccountToken,
            quantity: purchase.quantity ?? 1,
            offer: purchase.offer,
            proof: purchase.proof
        )
    }

    /// What the app answered to consumption requests.
    public func consumptionAnswers() -> [ConsumptionAnswer] {
        world.consumptionAnswers
    }
}
