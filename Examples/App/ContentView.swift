import BillingSDK
import SwiftUI

/// The first screen: signing in, or the shop.
struct ContentView: View {
    @ObservedObject var shop: Shop

    var body: some View {
        // Not a group, which would hand the task to each branch and start it again at sign-in.
        VStack {
            if shop.user == nil {
                SignInView(shop: shop)
            } else {
                ShopView(shop: shop)
            }
        }
        .task { await shop.start() }
        .onOpenURL { url in Task { await shop.opened(url) } }
    }
}

/// Asks for a name; the sample's backend believes everybody.
struct SignInView: View {
    @ObservedObject var shop: Shop
    @State private var name = ""

    var body: some View {
        VStack {
            TextField("Name", text: $name)
            Button("Sign in") { Task { await shop.signIn(name) } }
            if let message = shop.message { Text(verbatim: message) }
        }
        .padding()
    }
}

/// Everything that can be bought, and what it opened.
struct ShopView: View {
    @ObservedObject var shop: Shop

    var body: some View {
        NavigationView {
            List {
                if let message = shop.message { Text(verbatim: message) }
                InboxView(shop: shop)
                ProSection(shop: shop)
                CoinsSection(shop: shop)
                AccountSection(shop: shop)
            }
            .navigationTitle("Shop")
        }
    }
}

/// A feature that only those see who have bought it.
struct ProSection: View {
    @ObservedObject var shop: Shop

    var body: some View {
        Section("Pro") {
            Text("Here is what only Pro customers see.")
                .entitled(to: "pro", by: shop.billing) {
                    if let button = shop.buyPro { button.view() }
                }
        }
    }
}

/// Coins are bought on the web and come back by universal link.
struct CoinsSection: View {
    @ObservedObject var shop: Shop
    @Environment(\.openURL) private var openURL

    var body: some View {
        Section("Coins") {
            if let coins = shop.coins { Text("\(coins) coins") }
            Button("Buy 100 coins") {
                Task { if let page = await shop.coinCheckout() { openURL(page) } }
            }
        }
    }
}

/// Managing, restoring, signing out.
struct AccountSection: View {
    @ObservedObject var shop: Shop

    var body: some View {
        Section("Account") {
            #if os(iOS) || BILLING_APPLE_STUBS
                Button("Manage purchases") { shop.isPortalShown = true }
                    .customerPortal(isPresented: $shop.isPortalShown, billing: shop.billing)
            #endif
            #if canImport(StoreKit)
                Button("Restore purchases") { Task { await shop.restore() } }
            #endif
            Button("Sign out") { Task { await shop.signOut() } }
        }
    }
}
