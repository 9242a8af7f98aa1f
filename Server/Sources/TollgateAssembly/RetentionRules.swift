public import AppStoreConnector
internal import Foundation
public import TollgateCore
public import TollgateService

/// Reads the table of retention messages.
///
///     retention_messages:
///       - product: pro_monthly       # the catalog's id, or the App Store's; every plan if left out
///         locale: en-US              # every language if left out
///         message: 0b6c93f2-…        # as it was uploaded
///         switch_to: pro_yearly      # suggests another plan
///       - message: 5d0f7a11-…
///         offer: stay                # a promotional offer, signed by this server
///
/// The first rule that fits counts.
public enum RetentionRules {
    /// Reads the rules, and checks them against the catalog.
    ///
    /// - Parameter file: what to call it in errors.
    public static func read(
        bytes: some Sequence<UInt8>,
        file: String,
        catalog: Catalog
    ) throws(CatalogErrors) -> [RetentionRule] {
        let root = try CatalogReader.compose(
            bytes: bytes,
            file: file,
            ifEmpty: "there are no rules; docs/app-store.md has a table to start from"
        )
        var reading = YAMLReading()
        let table = reading.mapping(
            root,
            "the table of retention messages",
            keys: ["retention_messages"]
        )
        var rules: [RetentionRule] = []
        for place in reading.list(table, "retention_messages") {
            if let rule = reading.retentionRule(place, catalog) { rules.append(rule) }
        }
        let errors = reading.errors(file: file)
        guard errors.isEmpty else { throw CatalogErrors(errors) }
        return rules
    }
}

extension YAMLReading {
    fileprivate mutating func retentionRule(
        _ place: YAMLPlace,
        _ catalog: Catalog
    ) -> RetentionRule? {
        let fields = mapping(
            place,
            "a retention message",
            keys: [
                "environment", "product", "locale", "message", "switch_to", "offer",
                "offer_product",
            ]
        )
        let message = value(fields, "message", shape: "a UUID") { UUID(uuidString: $0) }
        if fields.values["message"] == nil { _ = required(fields, "message") }
        let other = plan(fields, "switch_to", catalog)
        let offered = plan(fields, "offer_product", catalog)
        let offer = text(fields, "offer")
        if other != nil, offer != nil {
            report(place, "a retention message has ‘switch_to’ or ‘offer’; keep one")
        }
        if offered != nil, offer == nil {
            report(place, "‘offer_product’ needs an ‘offer’ beside it")
        }
        let rule = message.map {
            RetentionRule(
                environment: word(fields, "environment", StoreEnvironment.self),
                product: plan(fields, "product", catalog),
                locale: text(fields, "locale"),
                message: $0,
                choice: other.map { .alternateProduct($0) }
                    ?? offer.map { .promotionalOffer($0, product: offered) } ?? .message
            )
        }
        if case .promotionalOffer(let offer, _)? = rule?.choice {
            let plan = offered ?? rule?.product
            let isListed =
                plan.map {
                    catalog.product(appStoreProductID: $0)?.promotionalOffers.contains(offer)
                        ?? false
                } ?? catalog.products.contains { $0.promotionalOffers.contains(offer) }
            if !isListed {
                report(
                    fields.values["offer"] ?? place,
                    "the catalog lists no offer ‘\(offer)’ for this plan; add it to its promotional_offers"
                )
            }
        }
        return rule
    }

    /// The App Store's id of a product that is named by it or by the catalog's.
    private mutating func plan(_ fields: Fields, _ key: String, _ catalog: Catalog) -> String? {
        guard let place = fields.values[key], let id = text(place) else { return nil }
        let product = catalog.product(id: id) ?? catalog.product(appStoreProductID: id)
        guard let product, product.isInAppStore else {
            report(
                place,
                "the catalog has no product ‘\(id.prefix(60))’ in the App Store; "
                    + NearMiss.advice(id, among: catalog.products.map(\.id))
            )
            return nil
        }
        if let productID = product.appStoreProductID { return productID }
        if product.id != id { return id }
        report(
            place,
            "‘\(id)’ has an id in each app; name one of them: "
                + product.allAppStoreProductIDs.joined(separator: ", ")
        )
        return nil
    }
}
