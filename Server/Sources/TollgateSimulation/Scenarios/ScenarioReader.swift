import TollgateCore
import TollgateService
import Yams

/// Reads scenario files: docs/scenarios.md says what they may hold.
public enum ScenarioReader {
    /// The largest file that is read, in bytes.
    public static let sizeLimit = 1 << 20

    /// Reads one scenario.
    ///
    /// - Parameters:
    ///   - text: the YAML.
    ///   - file: what to call it in errors; nothing is opened.
    /// - Throws: every mistake with its line.
    public static func read(_ text: String, file: String) throws(ScenarioErrors) -> Scenario {
        guard text.utf8.count <= sizeLimit else {
            throw ScenarioErrors([
                .init(file: file, line: 1, message: "a scenario has at most \(sizeLimit) bytes")
            ])
        }
        let root = try compose(text, file: file)
        var reading = ScenarioReading(file: file)
        let scenario = reading.scenario(ScenarioPlace(node: root))
        guard reading.errors.isEmpty, let scenario else {
            throw ScenarioErrors(reading.errors.sorted { $0.line < $1.line })
        }
        return scenario
    }

    private static func compose(_ text: String, file: String) throws(ScenarioErrors) -> Node {
        var error = ScenarioError(
            file: file,
            line: 1,
            message: "the file is empty; docs/scenarios.md has one to start from"
        )
        do {
            if let node = try Parser(yaml: text, encoding: .utf8).singleRoot() { return node }
        } catch let problem as YamlError {
            error.message = "this is not YAML: \(problem); look at the indentation and the quotes"
            switch problem {
            case .scanner(_, let words, let mark, _), .parser(_, let words, let mark, _),
                .composer(_, let words, let mark, _):
                error.line = max(1, mark.line)
                error.message = "this is not YAML: \(words); look at the indentation and quotes"
            case .duplicatedKeysInMapping(_, let context):
                error.line = max(1, context.mark.line)
                error.message = "a key is there twice in one place; keep one of them"
            default: break
            }
        } catch let problem {
            error.message = "this is not YAML: \(problem)"
        }
        throw ScenarioErrors([error])
    }
}

extension ScenarioReading {
    /// Reads the whole file; `nil` only where there is an error.
    mutating func scenario(_ place: ScenarioPlace) -> Scenario? {
        guard var fields = mapping(place, "a scenario") else { return nil }
        var scenario = Scenario(
            file: file,
            title: requiredText(&fields, "scenario"),
            covers: texts(&fields, "covers") ?? [],
            catalog: requiredText(&fields, "catalog"),
            customers: [],
            appStore: Scenario.AppStoreSettings(),
            stripe: Scenario.StripeSettings(),
            googlePlay: Scenario.GooglePlaySettings(),
            steps: []
        )
        _ = text(&fields, "about")
        if let place = take(&fields, "app_store") { scenario.appStore = appStoreSettings(place) }
        if let place = take(&fields, "stripe") { scenario.stripe = stripeSettings(place) }
        if let place = take(&fields, "google_play") {
            scenario.googlePlay = googlePlaySettings(place)
        }
        scenario.customers = customers(&fields)
        let steps = elements(&fields, "steps")
        finish(fields)
        for place in steps {
            if let step = step(place, customers: scenario.customers) {
                scenario.steps.append(step)
            }
        }
        if scenario.checkCount == 0 {
            report(place, "nothing is checked; add a step like ‘- check: [pro]’")
        }
        return scenario
    }

    private mutating func customers(_ fields: inout ScenarioFields) -> [Scenario.Person] {
        let places = elements(&fields, "customers")
        guard !places.isEmpty else { return [Scenario.Person(name: "user")] }
        var people: [Scenario.Person] = []
        for place in places {
            var person = Scenario.Person(name: "")
            if case .scalar(let scalar) = place.node {
                person.name = scalar.string
            } else if var fields = mapping(place, "a customer") {
                person.name = requiredText(&fields, "name")
                person.family = text(&fields, "family")
                person.passesToken = truth(&fields, "token") ?? true
                person.storefront = text(&fields, "storefront") ?? person.storefront
                person.region = text(&fields, "region") ?? person.region
                person.isTester = truth(&fields, "tester") ?? false
                finish(fields)
            }
            if people.contains(where: { $0.name == person.name }) {
                report(place, "there are two customers ‘\(person.name)’; rename one")
            }
            people.append(person)
        }
        return people
    }

    private mutating func step(
        _ place: ScenarioPlace,
        customers: [Scenario.Person]
    ) -> Scenario.Step? {
        guard var fields = mapping(place, "a step") else { return nil }
        let time = time(&fields)
        let names = customers.map(\.name)
        var customer = names.first ?? ""
        if let place = take(&fields, "customer"), let name = scalar(place, "‘customer’") {
            customer = name
            if !names.contains(name) {
                report(
                    place,
                    "there is no customer ‘\(name)’; " + NearMiss.advice(name, among: names)
                )
            }
        }
        let deed = deed(&fields)
        finish(fields)
        guard let deed, let time else { return nil }
        return Scenario.Step(
            line: place.line,
            at: time.milliseconds,
            isExact: time.isExact,
            customer: customer,
            deed: deed
        )
    }

    private mutating func time(_ fields: inout ScenarioFields) -> ScenarioTime? {
        guard let place = take(&fields, "at") else {
            if previous == nil { report(fields.place, "the first step has no ‘at’; add a time") }
            return previous.map { ScenarioTime(milliseconds: $0, isExact: isPreviousExact) }
        }
        guard let text = scalar(place, "‘at’"), let time = instant(text, place) else { return nil }
        if let previous, time.milliseconds < previous {
            report(place, "this is before the step above it; put the steps in order of time")
        }
        previous = time.milliseconds
        isPreviousExact = time.isExact
        return time
    }

    private mutating func deed(_ fields: inout ScenarioFields) -> Scenario.Deed? {
        let kinds = ["app_store", "stripe", "google_play", "check", "coins", "spend"].filter {
            fields.values[$0] != nil
        }
        if fields.values["app_store"] != nil {
            return act(in: "app_store", of: AppStoreAct.words, &fields) {
                $0.appStoreAct($1, &$2).map { .appStore($0) }
            }
        }
        if fields.values["stripe"] != nil {
            return act(in: "stripe", of: StripeAct.words, &fields) {
                $0.stripeAct($1, &$2).map { .stripe($0) }
            }
        }
        if fields.values["google_play"] != nil {
            return act(in: "google_play", of: GooglePlayAct.words, &fields) {
                $0.googlePlayAct($1, &$2).map { .googlePlay($0) }
            }
        }
        guard !kinds.isEmpty else {
            report(
                fields.place,
                "a step says ‘app_store’, ‘stripe’, ‘google_play’ or ‘check’; "
                    + "this one says none of them"
            )
            fields.values = [:]
            return nil
        }
        if kinds == ["spend"] {
            fields.what = "‘spend’"
            let amount = number(&fields, "spend", in: 1...1_000_000_000) ?? 1
            let outcome = word(&fields, "outcome", of: ["completed", "refused"])
            return .spend(.init(amount: Int64(amount), isRefused: outcome == "refused"))
        }
        fields.what = "‘check’"
        var expectation = Scenario.Expectation()
        expectation.has = texts(&fields, "check").map(Set.init)
        expectation.coins = number(&fields, "coins", in: -1_000_000...1_000_000_000)
            .map { Int64($0) }
        expectation.environment = word(&fields, "environment", of: ["production", "sandbox"])
            .flatMap(StoreEnvironment.init)
        let place = fields.values["past"]
        expectation.past = instant(&fields, "past")
        if let place, let past = expectation.past, past >= previous ?? past {
            report(place, "‘past’ is not before the time of its step")
        }
        return .check(expectation)
    }

    /// Reads an act that happens in a store.
    private mutating func act(
        in store: String,
        of words: [String],
        _ fields: inout ScenarioFields,
        _ read: (inout Self, String, inout ScenarioFields) -> Scenario.Deed?
    ) -> Scenario.Deed? {
        guard let place = take(&fields, store) else { return nil }
        fields.known += ["app_store", "stripe", "google_play", "check"].filter { $0 != store }
        guard let name = name(place, store, among: words) else {
            fields.values = [:]  // Which keys it has is not known.
            return nil
        }
        fields.what = "‘\(store): \(name)’"
        return read(&self, name, &fields)
    }

    private mutating func name(
        _ place: ScenarioPlace,
        _ key: String,
        among words: [String]
    ) -> String? {
        guard let name = scalar(place, "‘\(key)’") else { return nil }
        guard words.contains(name) else {
            report(
                place,
                "‘\(name.prefix(40))’ is nothing that happens in ‘\(key)’; "
                    + NearMiss.advice(name, among: words)
            )
            return nil
        }
        return name
    }
}
