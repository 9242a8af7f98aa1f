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
        public var customers: [Customer] = []
        public var deeds: [Deed] = []

        init(of world: World, environment: Environment, seed: UInt64) {
            self.environment = environment
            renewals = world.renewals
            renewalLimit = world.renewalLimit
            graceDays = world.graceDays
            self.seed = seed
            products = world.products.values.sorted { $0.id < $1.id }
        }

        /// Adds products as they are before anything is done to them, or replaces those of the same id.
        mutating func add(_ added: [Product]) {
            for product in added {
                products.removeAll { $0.id == product.id }
                products.append(product)
            }
            products.sort { $0.id < $1.id }
        }
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

    /// Writes a deed down, if somebody wants to know.
    func note(_ act: String?, _ subject: Deed.Subject, _ details: [Deed.Detail] = []) async {
        guard let onDeed else { return }
        let now = await clock.now
        guard let deed = Deed(act, subject, details, at: now, in: world) else { return }
        story.deeds.append(deed)
        onDeed(story)
    }

    /// Time went by.
    func noteTime() async {
        await note(nil, .everyone)
    }
}

extension SimulatedAppStore.Deed {
    /// The subject of a deed.
    enum Subject: Sendable {
        case everyone
        case customer(String)
        /// By its original transaction id.
        case subscription(String)
        case transaction(String)
    }

    /// Nil where the subject does not exist.
    fileprivate init?(
        _ act: String?,
        _ subject: Subject,
        _ details: [Detail],
        at now: Int64,
        in world: World
    ) {
        at = now
        self.act = act
        self.details = details
        switch subject {
        case .everyone: customer = nil
        case .customer(let id): customer = id
        case .subscription(let id), .transaction(let id):
            guard let transaction = world.transactions[id] else { return nil }
            customer = transaction.customer
        }
        if case .transaction(let id) = subject {
            let number = world.transactionsOf(customer ?? "").firstIndex { $0.id == id } ?? 0
            self.details = [.init("purchase", "\(number + 1)")] + details
        }
        holdings = [:]
        for id in customer.map({ [$0] }) ?? Array(world.customers.keys)
        where Self.isAnswerable(for: id, in: world) {
            holdings[id] = Self.held(by: id, in: world)
        }
    }

    /// Whether the app's server can know what a customer has: it was told everything, and the
    /// customer's purchases, and nobody else's, name them.
    private static func isAnswerable(for customer: String, in world: World) -> Bool {
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
    private static func held(by customer: String, in world: World) -> [String] {
        let products = world.transactionsOf(customer)
            .filter { $0.kind != .nonRenewing && Purchases.isCurrent(world, $0) }
            .map(\.productID)
        return Set(products).sorted()
    }
}
