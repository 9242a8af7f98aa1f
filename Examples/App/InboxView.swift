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
            if let age = shop.minimumAge {
                Button("I am \(age) or older") { Task { await shop.stateAge(age) } }
            }
        }
    }
}
