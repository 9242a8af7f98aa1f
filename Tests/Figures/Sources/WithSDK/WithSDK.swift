import BillingSDK
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The same app, with the SDK in use.
@main
enum WithSDK {
    static func main() async throws {
        let numbers = try JSONDecoder().decode([Int].self, from: Data("[1]".utf8))
        let encoded = try JSONEncoder().encode(numbers)
        let folder = FileManager.default.temporaryDirectory
        let formatter = NumberFormatter()
        formatter.numberStyle = .currency
        let session = URLSession(configuration: .ephemeral)
        if numbers.isEmpty, let url = URL(string: "http://127.0.0.1:1") {
            _ = try await session.data(for: URLRequest(url: url))
        }
        print(encoded.count, folder.path.isEmpty, formatter.string(from: 1) ?? "", Date())

        let billing = BillingSDK(configuration: .init(publishableKey: "pk_test_figures"))
        let entitlements = try await billing.getActiveEntitlements()
        print("signed out, entitlements: \(entitlements.count)")
    }
}
