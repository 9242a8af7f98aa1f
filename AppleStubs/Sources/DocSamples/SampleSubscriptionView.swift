import BillingSDK
import SwiftUI

/// Offers one subscription.
struct SampleSubscriptionView: View {
    @State private var buyButton: BuyButton?
    @State private var errorMessage: String?

    let buttonId = "buy_btn_monthly"

    var body: some View {
        VStack {
            if let buyButton = buyButton {
                buyButton.view()
                    .frame(height: 56)
                    .padding(.horizontal)
            } else if let errorMessage = errorMessage {
                Text("Error: \(errorMessage)")
                    .foregroundColor(.red)
                Button("Retry") {
                    load()
                }
            } else {
                ProgressView("Loading…")
            }
        }
        .onAppear {
            load()
        }
    }

    func load() {
        errorMessage = nil
        Task {
            do {
                buyButton = try await SampleBillingManager.shared.billing.getBuyButton(id: buttonId)
            } catch {
                errorMessage = "The offer could not be loaded"
            }
        }
    }
}

/// The same offer, drawn by the app itself.
struct SampleOwnBuyButtonView: View {
    let button: BuyButton

    var body: some View {
        VStack {
            Text(button.callToAction ?? "Buy")
            Text("\(button.lineItemGroup.amount_total) \(button.lineItemGroup.currency)")
            button.view { print("pressed \(button.id)") }
                .disabled(!button.active)
        }
    }
}
