/// What a sandbox lets people do to its world from the dashboard: its clock and its stores.
///
/// A server in earnest has none.
public struct DashboardLevers: Sendable {
    /// One button.
    public struct Lever: Sendable {
        /// Names it in the form.
        public var id: String
        /// Of the dashboard's texts, or the text itself.
        public var label: String
        /// Whether it does harm, in the sandbox's world.
        public var isDangerous: Bool

        public init(id: String, label: String, isDangerous: Bool = false) {
            self.id = id
            self.label = label
            self.isDangerous = isDangerous
        }
    }

    /// Levers that belong together.
    public struct Group: Sendable {
        /// Of the dashboard's texts, or the text itself.
        public var title: String
        public var levers: [Lever]
        /// What they are about, chosen from a list: a customer of the store, say; empty where they are
        /// about all.
        public var targets: [(id: String, name: String)]

        public init(title: String, levers: [Lever], targets: [(id: String, name: String)] = []) {
            self.title = title
            self.levers = levers
            self.targets = targets
        }
    }

    /// What there is to pull now.
    public var groups: @Sendable () async -> [Group]
    /// Pulls one; an error's text is shown.
    public var pull: @Sendable (_ lever: String, _ target: String) async throws -> Void

    public init(
        groups: @escaping @Sendable () async -> [Group],
        pull: @escaping @Sendable (_ lever: String, _ target: String) async throws -> Void
    ) {
        self.groups = groups
        self.pull = pull
    }
}
