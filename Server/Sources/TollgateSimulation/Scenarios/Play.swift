internal import ScenarioWriting
internal import AppStoreSimulator
internal import Foundation
internal import GooglePlaySimulator
internal import SandboxClock
internal import StripeSimulator
internal import TollgateCore

/// One telling of a story: the simulated stores live through it, a backend listens and is asked.
struct Play {
    /// How a telling differs from the story as it is written.
    struct Telling: Sendable {
        var variant = Variant.likely
        /// Milliseconds by which all of it is later.
        var shift: Int64 = 0
        /// Another seed makes other ids of everything.
        var salt: UInt64 = 0
        /// What Stripe signs its events with, at the time it really is; `nil`: for Tollgate in
        /// process, whose clock the telling sets.
        var webhookSecret: String?
        /// The last check to be made, from 0; what comes after it does not happen.
        var lastCheck: Int?
        /// Whether signatures are made at the story's own time.
        var wallIsVirtual = false
        /// The types of events that Stripe tells; `nil`: all.
        var stripeEvents: [String]?
        /// The app's name in Google Play; `nil`: one of the telling's own.
        var package: String?
        /// Whether Google Play is kept as it was at each of its messages.
        var keepsMoments = true
    }

    /// What was said at one check.
    struct Answered: Sendable {
        var check: Recording.Check
        var answer: ScenarioAnswer
    }

    let loaded: LoadedScenario
    let backend: any ScenarioBackend
    let telling: Telling
    let world: ScenarioWorld
    let messages = MessageLog()
    private let listener = HintListener()
    var people: [String: ScenarioCustomer] = [:]
    var appleAccounts: [String: String] = [:]
    var stripeCustomers: [ScenarioCustomer: (id: String, object: String)] = [:]
    /// Those whose present Stripe customer was deleted.
    var deletedAtStripe: Set<ScenarioCustomer> = []
    /// The deleted Stripe customers of those who have bought again since, the oldest first.
    var formerStripeCustomers: [ScenarioCustomer: [String]] = [:]
    /// `nil` where the story does not speak of Google Play.
    var googlePlay: GooglePlayStage?
    /// The latest Checkout Session of each customer.
    var sessions: [String: String] = [:]
    /// The prices that each customer adds on the page of that session.
    var additions: [String: [String]] = [:]
    /// The coins that were spent for each customer.
    private var spent: [ScenarioCustomer: Int64] = [:]
    private var checks: [Recording.Check] = []
    private var answers: [Answered] = []

    private var scenario: Scenario { loaded.scenario }

    init(
        _ loaded: LoadedScenario,
        backend: any ScenarioBackend,
        authority: Data,
        telling: Telling = Telling()
    ) async throws {
        self.loaded = loaded
        self.backend = backend
        self.telling = telling
        let (messages, listener) = (messages, listener)
        let seed = Self.seed(loaded.scenario.title, telling.salt)
        world = try await ScenarioWorld(
            loaded,
            variant: telling.variant,
            start: (loaded.scenario.steps.first?.at ?? 0) + telling.shift,
            seed: seed,
            authority: authority,
            webhookSecret: telling.webhookSecret,
            wallIsVirtual: telling.wallIsVirtual,
            stripeEvents: telling.stripeEvents,
            package: Self.package(of: loaded, telling),
            ears: ScenarioWorld.Ears(
                notification: { message, _ in
                    guard case .signedPayload(let payload) = message else { return .success }
                    messages.append(.notification(payload))
                    return await backend.take(signedPayload: payload)
                        ? .success : .unsuccessfulHTTPResponseCode
                },
                event: { body, _, signature in
                    messages.append(.event(body: body, signature: signature))
                    return await backend.take(event: body, signature: signature)
                },
                hint: { body in
                    await messages.append(hint: Array(body))
                    listener.hear()
                    return await backend.take(hint: Array(body))
                }
            )
        )
        var random = SplitMix64(seed: seed)
        for person in loaded.scenario.customers {
            people[person.name] = ScenarioCustomer(
                name: person.name,
                id: Self.uuid(random.bytes(16)),
                isProduction: loaded.scenario.isProduction(person),
                isInBothEnvironments: loaded.scenario.sellsInBothEnvironments
            )
        }
        guard let play = world.googlePlay else { return }
        googlePlay = GooglePlayStage(play, loaded, telling)
        await listen(to: play)
    }

    /// The app's name in Google Play: each telling has its own, as backends keep what they were told.
    static func package(of loaded: LoadedScenario, _ telling: Telling) -> String {
        if let package = telling.package { return package }
        let mark = seed(loaded.scenario.title + telling.variant.name, telling.salt)
        return "com.example.s" + String(mark, radix: 36)
    }

    /// Lets the backend read, and notes when it does.
    private func listen(to play: SimulatedGooglePlay) async {
        let (messages, backend) = (messages, backend)
        if telling.keepsMoments { messages.watch(play) }
        listener.onHint { await backend.settle() }
        await world.clock.join(listener)
        await backend.connect(play) { await messages.append(reading: $0) }
    }

    /// The same for the same words on every machine.
    static func seed(_ text: String, _ salt: UInt64) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        var random = SplitMix64(seed: hash ^ salt)
        return random.next()
    }

    private static func uuid(_ bytes: [UInt8]) -> String {
        var bytes = bytes
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }.uuidString
            .lowercased()
    }

    // MARK: - Telling

    /// Lives through the story and returns what was answered at each check.
    ///
    /// - Throws: `ScenarioFailure` where something that the story says cannot happen.
    mutating func run() async throws -> [Answered] {
        try await begin()
        for step in scenario.steps {
            await world.clock.advance(to: step.at + telling.shift)
            await settle()
            do {
                switch step.deed {
                case .appStore(let act): try await perform(act, step)
                case .stripe(let act):
                    try await perform(act, step)
                    await world.stripe.settle()
                case .googlePlay(let act): try await perform(act, step)
                case .check(let expectation): try await check(expectation, step)
                case .spend(let spending): try await spend(spending, step)
                }
            } catch let failure as ScenarioFailure {
                throw failure
            } catch {
                throw failure(step, "this does not happen: \(error)")
            }
            if let last = telling.lastCheck, checks.count > last { break }
            await settle()
        }
        await world.clock.end()
        listener.end()
        return answers
    }

    private func settle() async {
        listener.rest()
        await backend.settle()
    }

    /// Makes everybody known to the backend and to the App Store.
    mutating func begin() async throws {
        for person in scenario.customers {
            guard let customer = people[person.name] else { continue }
            try await backend.begin(customer)
            appleAccounts[person.name] =
                try await world.appStore.createCustomer(
                    appAccountToken: person.passesToken ? customer.id : nil,
                    storefront: person.storefront,
                    family: person.family
                ).id
            try await googlePlay?.open(person, customer)
        }
    }

    /// What the stores said, once the story is told.
    var recording: Recording {
        Recording(
            scenario: loaded,
            variant: telling.variant.name,
            customers: scenario.customers.compactMap { people[$0.name] },
            stripeCustomers: stripeCustomers.mapValues { [$0.object] }
                .merging(formerStripeCustomers) { now, former in former + now },
            messages: messages.all,
            checks: checks,
            moments: messages.moments,
            package: Self.package(of: loaded, telling)
        )
    }

    private mutating func spend(_ spending: Scenario.Spending, _ step: Scenario.Step) async throws {
        guard let customer = people[step.customer] else { return }
        if !spending.isRefused { spent[customer, default: 0] += spending.amount }
        let isSpent = try await backend.spend(
            spending.amount,
            of: customer,
            key: "\(scenario.title) \(step.line)"
        )
        guard let isSpent, isSpent == spending.isRefused else { return }
        throw failure(step, isSpent ? "the coins are spent" : "the coins are not spent")
    }

    private mutating func check(
        _ expectation: Scenario.Expectation,
        _ step: Scenario.Step
    ) async throws {
        guard let customer = people[step.customer] else { return }
        let check = Recording.Check(
            line: step.line,
            at: step.at + telling.shift,
            isExact: step.isExact,
            customer: customer,
            expectation: expectation,
            spent: spent[customer] ?? 0,
            messages: messages.all.count,
            stripe: scenario.usesStripe ? await world.stripe.still() : nil,
            googlePlay: await world.googlePlay?.still(),
            past: expectation.past.map { $0 + telling.shift }
        )
        let isAsked = telling.lastCheck.map { $0 == checks.count } ?? true
        checks.append(check)
        guard isAsked else { return }
        let answer = try await check.ask(
            backend,
            lookupKeys: loaded.catalog.entitlements.map(\.lookupKey)
        )
        answers.append(Answered(check: check, answer: answer))
    }

    func failure(_ step: Scenario.Step, _ message: String) -> ScenarioFailure {
        ScenarioFailure(
            file: scenario.file,
            line: step.line,
            message: message,
            how: telling.variant.name
        )
    }

    /// The customer's device posts a signed transaction.
    func post(_ signedTransaction: String, by customer: ScenarioCustomer, mode: String) async throws
    {
        messages.append(
            .post(signedTransaction, customer, mode: mode, at: await world.clock.now)
        )
        try await backend.post(signedTransaction, by: customer, mode: mode)
    }

    /// The customer's device posts its legacy receipt.
    ///
    /// - Parameter answer: what `verifyReceipt` says of it now.
    func post(
        receipt: String,
        answered answer: String,
        by customer: ScenarioCustomer,
        mode: String
    ) async throws {
        let now = await world.clock.now
        messages.append(.receipt(receipt, answer: answer, customer, mode: mode, at: now))
        try await backend.post(receipt: receipt, answered: answer, by: customer, mode: mode)
    }
}

extension Recording.Check {
    /// The customer, with the environment in which the check looks.
    var asked: ScenarioCustomer {
        var customer = customer
        if let environment = expectation.environment {
            customer.isProduction = environment == .production
            customer.isInBothEnvironments = false
        }
        return customer
    }

    /// Asks a backend about the customer; what nobody knows is right.
    func ask(
        _ backend: some ScenarioBackend,
        lookupKeys: [String]
    ) async throws -> ScenarioAnswer {
        guard let past else { return try await backend.answer(asked, lookupKeys: lookupKeys) }
        return try await backend.answer(asked, about: past, lookupKeys: lookupKeys)
            ?? ScenarioAnswer(has: expectation.has ?? [], coins: nil)
    }

    /// What is wrong about an answer; `nil` if nothing is.
    ///
    /// - Parameter unspent: the coins that the story spends and this telling does not.
    func objection(to answer: ScenarioAnswer, unspent: Int64 = 0) -> String? {
        func list(_ keys: Set<String>) -> String {
            keys.isEmpty ? "nothing" : keys.sorted().joined(separator: ", ")
        }
        var objections: [String] = []
        if let has = expectation.has, has != answer.has {
            objections.append(
                "\(customer.name) should have \(list(has)) and has \(list(answer.has))"
            )
        }
        if let coins = expectation.coins, let balance = answer.coins, coins != balance - unspent {
            objections.append(
                "\(customer.name) should have \(coins) coins and has \(balance - unspent)"
            )
        }
        objections += answer.objections
        guard !objections.isEmpty else { return nil }
        let about = past.map { " about \(ScenarioWriter.time($0))" } ?? ""
        return "at \(ScenarioWriter.time(at))\(about) " + objections.joined(separator: "; ")
    }
}
