import Foundation
public import TollgateCore
import TollgateService

/// A scenario with the catalog that it names.
public struct LoadedScenario: Sendable {
    public var scenario: Scenario
    public var catalog: Catalog

    public init(scenario: Scenario, catalog: Catalog) {
        (self.scenario, self.catalog) = (scenario, catalog)
    }

    /// Reads a scenario from a file, and the catalog beside it.
    ///
    /// - Throws: `ScenarioErrors`; what the catalog's reader throws.
    public init(path: String) throws {
        guard let bytes = FileManager.default.contents(atPath: path) else {
            throw ScenarioErrors([
                .init(file: path, line: 1, message: "there is no such file, or it cannot be read")
            ])
        }
        let scenario = try ScenarioReader.read(String(decoding: bytes, as: UTF8.self), file: path)
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        let catalog = folder.appendingPathComponent(scenario.catalog)
        guard let bytes = FileManager.default.contents(atPath: catalog.path) else {
            throw ScenarioErrors([
                .init(
                    file: path,
                    line: 1,
                    message:
                        "there is no catalog \(scenario.catalog); its path counts from the file"
                )
            ])
        }
        self.init(
            scenario: scenario,
            catalog: try CatalogReader.read(bytes: bytes, file: scenario.catalog)
        )
        try check()
    }

    /// Every product and entitlement that the story names is in the catalog.
    private func check() throws {
        var errors: [ScenarioError] = []
        let products = catalog.products.map(\.id)
        let keys = catalog.entitlements.map(\.lookupKey)
        func require(_ word: String, among words: [String], _ what: String, _ line: Int) {
            guard !words.contains(word) else { return }
            errors.append(
                ScenarioError(
                    file: scenario.file,
                    line: line,
                    message: "the catalog has no \(what) ‘\(word)’; "
                        + NearMiss.advice(word, among: words)
                )
            )
        }
        for step in scenario.steps {
            if case .check(let expectation) = step.deed {
                for key in (expectation.has ?? []).sorted() {
                    require(key, among: keys, "entitlement", step.line)
                }
            }
            for product in step.products {
                require(product, among: products, "product", step.line)
            }
        }
        for offer in scenario.appStore.offers {
            require(offer.product, among: products, "product", 1)
        }
        let settings = scenario.appStore
        let plans = scenario.googlePlay.plans.keys + scenario.googlePlay.offers.map(\.product)
        for product in plans.sorted() { require(product, among: products, "product", 1) }
        for product in settings.shareable.union(settings.commitments).sorted() {
            require(product, among: products, "product", 1)
        }
        guard errors.isEmpty else { throw ScenarioErrors(errors) }
    }
}

extension Scenario.Step {
    /// The products that it names.
    var products: [String] {
        switch deed {
        case .check, .spend: []
        case .appStore(let act):
            switch act {
            case .buy(let product, _, _), .extendAll(let product, _),
                .raisePrice(let product, _, _), .withdraw(let product), .change(let product):
                [product]
            case .redeem(_, let product): product.map { [$0] } ?? []
            case .cancel(let which), .resume(let which), .consent(let which),
                .refund(let which, _), .reverseRefund(let which), .requestRefund(let which, _),
                .declineRefund(let which), .post(let which, _), .end(let which),
                .tell(_, _, let which):
                which.product.map { [$0] } ?? []
            default: []
            }
        case .stripe(let act):
            switch act {
            case .checkout(let order, _, _, _), .openCheckout(let order),
                .subscribe(let order, _, _, _), .invoice(let order):
                [order.product] + order.with + order.adds
            case .change(let product, _), .addItem(let product, _): [product]
            case .schedule(let phases, _): phases.map(\.product)
            default: []
            }
        case .googlePlay(let act): act.products
        }
    }
}
