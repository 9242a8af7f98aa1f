import BillingSDK
import SwiftUI

/// A purchase that was begun on the app's page in the App Store, until it is done.
struct InboxView: View {
    @ObservedObject var shop: Shop

    var body: some View {
        switch shop.nextStep {
        case .proceed(let purchase)?:
            Section("Waiting for you") {
                Text("You chose \(purchase.productID) in the App Store.")
                #if canImport(StoreKit)
                    Button("Continue") { Task { await shop.complete(purchase) } }
                #endif
                Button("Later") { shop.postpone(purchase) }
                Button("No, thank you") { shop.discard(purchase) }
            }
        case .pass(let gate, let purchase)?:
            Section("Waiting for you") { GateView(shop: shop, gate: gate, purchase: purchase) }
        case nil:
            if let purchase = shop.postponed {
                Section("Put off") {
                    Text("You chose \(purchase.productID) earlier.")
                    Button("Go on with it") { shop.resume(purchase) }
                }
            }
        }
    }
}

/// What has to be settled before the purchase goes on.
struct GateView: View {
    @ObservedObject var shop: Shop
    let gate: PurchaseGate
    let purchase: PendingPurchase

    var body: some View {
        switch gate {
        case .setUp, .signIn: Text("Sign in to go on with your purchase.")
        case .notOwned:
            Text("You have this already.")
            Button("Remove") { shop.discard(purchase) }
        case .terms, .subscriptionTerms:
            ForEach(shop.missingTerms) { document in
                if let url = document.url { Link("Read the terms", destination: url) }
            }
            Button("I accept the terms") { Task { await shop.acceptTerms() } }
        case .age:
            if let consents = shop.consents {
                AgeQuestion(shop: shop, consents: consents, purchase: purchase)
            }
        }
    }
}

/// An age, as somebody says it by pressing a button.
struct StatedAge: Identifiable {
    let atLeast: Int
    let below: Int?

    var id: Int { atLeast }

    var label: String {
        switch (atLeast, below) {
        case (0, let below?): "I am younger than \(below)"
        case (let age, nil): "I am \(age) or older"
        case (let age, let below?): "I am \(age) to \(below - 1)"
        }
    }

    /// The ranges between the ages that the catalog tells apart, the youngest first.
    ///
    /// Where a parent or guardian has declared a range, or it was checked, only what lies in it.
    static func choices(_ consents: Consents) -> [StatedAge] {
        let ages = consents.askedAges
        let all = zip([0] + ages, ages.map(Optional.some) + [nil])
        guard let declaration = consents.ageDeclaration, declaration != .selfDeclared else {
            return all.map { StatedAge(atLeast: $0, below: $1) }
        }
        return all.compactMap { lower, upper in
            let atLeast = max(lower, consents.statedAge ?? 0)
            let below = [upper, consents.statedAgeBelow].compactMap { $0 }.min()
            if let below, below <= atLeast { return nil }
            return StatedAge(atLeast: atLeast, below: below)
        }
    }
}

/// How old the customer is, and whether a parent agrees.
struct AgeQuestion: View {
    @ObservedObject var shop: Shop
    let consents: Consents
    let purchase: PendingPurchase

    var body: some View {
        if consents.isTooYoung {
            Text("You are too young for this purchase.")
            Button("Remove") { shop.discard(purchase) }
        } else if consents.isAgeMissing
            || (consents.isParentalConsentMissing && consents.isAgeUnclear)
        {
            ForEach(StatedAge.choices(consents)) { age in
                Button(age.label) { Task { await shop.state(age) } }
            }
        } else if consents.isParentalConsentMissing {
            // Your shop asks the parent where the child cannot answer.
            Text("Ask a parent.")
            Button("I am the parent, and I agree") {
                Task { await shop.recordParentalConsent() }
            }
        }
    }
}
