import BillingSDK
import SwiftUI

/// One for the whole app.
let billing: BillingSDK = {
    let billing = BillingSDK(
        configuration: .init(
            publishableKey: "pk_test_demo",
            maximumStaleEntitlementsDuration: 300,
            serverURL: URL(string: "http://127.0.0.1:8080")))
    billing.setCustomerSessionProvider {
        guard let token = SignedIn.token else { return nil }
        var request = URLRequest(url: URL(string: "http://127.0.0.1:4242/customer-session")!)
        request.httpMethod = "POST"
        request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        let (data, response) = try await URLSession.shared.data(for: request)
        switch (response as? HTTPURLResponse)?.statusCode {
        case 200:
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .secondsSince1970
            return try decoder.decode(UBCustomerSessionDetails.self, from: data)
        case 401: return nil
        default: throw URLError(.badServerResponse)
        }
    }
    return billing
}()

/// Your own sign-in. For the first try, paste a token of the sample backend's.
enum SignedIn {
    static let token: String? = "…"
}

struct ReaderView: View {
    var body: some View {
        Text("Every article, and all back issues.")
            .entitled(to: "pro", by: billing) {
                LoadedBuyButton(id: "buy_pro_monthly", billing: billing)
            }
            .onOpenURL { url in Task { await billing.handleCheckoutReturn(url) } }
    }
}

struct ReaderApp: App {
    var body: some Scene { WindowGroup { ReaderView() } }
}
