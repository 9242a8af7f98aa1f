#if canImport(StoreKit)
    import Foundation
    import StoreKit

    extension PurchasePreparation {
        /// What StoreKit needs to sell `product` to the customer who is signed in.
        ///
        /// - Parameter options: the app's own.
        /// - Throws: ``BillingSDKError/invalidConfiguration(_:)`` where the app's options hold an account
        ///   token; as ``accountToken(for:)``.
        func options(
            for product: Product,
            beside options: Set<Product.PurchaseOption>
        ) async throws -> Set<Product.PurchaseOption> {
            guard !options.contains(where: \.isAccountToken) else {
                throw BillingSDKError.invalidConfiguration(
                    "The options of the purchase hold an account token. Leave .appAccountToken out: "
                        + "the server says the token that ties the purchase to the customer."
                )
            }
            return options.union([.appAccountToken(try await accountToken(for: product.id))])
        }
    }

    extension Product.PurchaseOption {
        /// Whether this is an account token, whatever its value.
        ///
        /// StoreKit's options can be compared and printed, but not read. So this one is compared with
        /// another account token as both are printed, without the UUIDs in them.
        fileprivate var isAccountToken: Bool {
            let token = Self.appAccountToken(UUID())
            guard self != token else { return true }
            // Where StoreKit prints all options alike, nothing can be told.
            let others = [Self.quantity(1), Self.custom(key: "a", value: UUID().uuidString)]
            return form == token.form && !others.contains { $0.form == token.form }
        }

        private var form: String {
            String(reflecting: self).replacingOccurrences(
                of: "[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}",
                with: "",
                options: .regularExpression
            )
        }
    }
#endif
