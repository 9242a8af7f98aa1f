import BillingSDK
import SwiftUI

/// The customer's coins; a purchase on the web comes back by a universal link.
class SampleWallet: ObservableObject {
    @Published var spendable = 0
    @Published var debt = 0

    @MainActor
    func reload() async {
        let billing = SampleBillingManager.shared.billing
        guard let coins = try? await billing.getCoinBalance() else { return }
        spendable = Int(coins.spendable)
        debt = Int(coins.debt)
    }
}

struct SampleCoinsView: View {
    @EnvironmentObject private var wallet: SampleWallet
    @Environment(\.openURL) private var openURL

    var body: some View {
        VStack {
            Text("\(wallet.spendable) coins")
            Button("Buy 100 coins") {
                Task {
                    let billing = SampleBillingManager.shared.billing
                    let button = try await billing.getBuyButton(id: "buy_btn_coins_100")
                    openURL(try await button.checkout())
                }
            }
        }
        .task { await wallet.reload() }
        .onOpenURL { url in
            // The link only says that something may have happened; the server says what.
            guard url.path == "/checkout_redirect/success" else { return }
            Task { await wallet.reload() }
        }
    }
}
