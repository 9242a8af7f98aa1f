import SandboxClock

extension SimulatedAppStore {
    /// What was done to this store so far, so that it can be written down and done again.
    public struct Story: Sendable {
        public var environment: Environment
        public var renewals: Renewals
        public var renewalLimit: Int?
        public var graceDays: Int?
        public var seed: UInt64
        /// As they were before anything was done to them.
        public var products: [Product]
        /// As they were when they came.
        public var customers: [Customer]
        public var deeds: [Deed]
    }

    /// One thing that was done, in the words of scenario files (docs/scenarios.md).
    public struct Deed: Hashable, Sendable {
        public struct Detail: Hashable, Sendable {
            public var name: String
            public var value: String

            init(_ name: String, _ value: String) {
                (self.name, self.value) = (name, value)
            }
        }

        /// UNIX milliseconds on the virtual clock.
        public var at: Int64
        /// `nil` where only time went by.
        public var act: String?
        public var customer: String?
        public var details: [Detail]
        /// The products that customers have after it, of those about whom the app's server was told
        /// everything.
        public var holdings: [String: [String]]
    }

    /// The store's story so far.
    public var story: Story {
        Story(
            environment: environment,
            renewals: world.renewals,
            renewalLimit: world.renewalLimit,
            graceDays: world.graceDays,
            seed: seed,
            products: storyProducts.values.sorted { $0.id < $1.id },
            customers: storyCustomers,
            deeds: deeds
        )
    }

    func note(_ act: String?, _ customer: String?, _ details: [Deed.Detail] = []) async {
        guard let onDeed else { return }
        let now = await clock.now
        let concerned = customer.map { [$0] } ?? customers().map(\.id)
        var holdings: [String: [String]] = [:]
        for id in concerned where isAnswerable(for: id) { holdings[id] = held(by: id, at: now) }
        deeds.append(
            Deed(at: now, act: act, customer: customer, details: details, holdings: holdings)
        )
        onDeed(story)
    }

    func note(
        _ act: String,
        subscription originalID: String,
        _ details: [Deed.Detail] = []
    ) async {
        guard let transaction = world.transactions[originalID] else { return }
        await note(act, transaction.customer, details)
    }

    func note(
        _ act: String,
        transaction id: String,
        _ details: [Deed.Detail] = []
    ) async {
        guard let transaction = world.transactions[id] else { return }
        let number = world.transactionsOf(transaction.customer).firstIndex { $0.id == id } ?? 0
        await note(
            act,
            transaction.customer,
            [.init("purchase", "\(number + 1)")] + details
        )
    }

    /// Time went by.
    func noteTime() async {
        await note(nil, nil)
    }

    /// Whether the app's server can know what a customer has: it was told everything, and the
    /// customer's purchases, and nobody else's, name them.
    private func isAnswerable(for customer: String) -> Bool {
        guard let token = world.customers[customer]?.appAccountToken,
            world.transactionsOf(customer).allSatisfy({
                $0.ownership == .purchased && $0.appAccountToken == token
            }),
            !world.transactions.values.contains(where: {
                $0.customer != customer && $0.appAccountToken == token
            })
        else { return false }
        return world.notifications.values.allSatisfy { notification in
            guard notification.url != nil, let id = notification.transactionID else { return true }
            return world.transactions[id]?.customer != customer || notification.isDelivered
        }
    }

    /// How long a non-renewing purchase lasts is not the store's to know.
    private func held(by customer: String, at now: Int64) -> [String] {
        let products = world.transactionsOf(customer)
            .filter { $0.kind != .nonRenewing && isCurrent($0, at: now) }
            .map(\.productID)
        return Set(products).sorted()
    }
}
