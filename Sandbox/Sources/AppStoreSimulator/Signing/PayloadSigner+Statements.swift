/// The statements that the store signs.
extension PayloadSigner {
    func sign(_ transaction: Transaction, in world: World, at date: Int64) throws -> String {
        try sign(
            TransactionPayload(
                transaction,
                customer: try world.customer(transaction.customer),
                in: world,
                signedDate: date
            )
        )
    }

    func sign(_ subscription: Subscription, in world: World, at date: Int64) throws -> String {
        try sign(
            RenewalInfoPayload(
                subscription,
                customer: try world.customer(subscription.customer),
                in: world,
                signedDate: date
            )
        )
    }

    /// Signs the app transaction of a customer, with a new nonce.
    func sign(
        appTransactionOf customer: Customer,
        in world: inout World,
        at date: Int64
    ) throws -> String {
        let nonce = world.random.uuid()
        return try sign(
            AppTransactionPayload(customer: customer, in: world, nonce: nonce, signedDate: date)
        )
    }
}
