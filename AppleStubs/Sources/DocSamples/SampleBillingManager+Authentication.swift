import BillingSDK
import Foundation

extension SampleBillingManager {
    /// Asks the app's own backend; nil only where the backend says that nobody is signed in.
    func setupCustomerSessionProvider() {
        billing.setCustomerSessionProvider {
            [weak self] () async throws -> UBCustomerSessionDetails? in
            try await self?.fetchCustomerSession()
        }
    }

    private func fetchCustomerSession() async throws -> UBCustomerSessionDetails? {
        guard let url = URL(string: "https://backend.example/customer-session") else { return nil }
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.setValue("Bearer \(authToken)", forHTTPHeaderField: "Authorization")
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

    func signOut() async {
        UserDefaults.standard.removeObject(forKey: "auth_token")
        authToken = ""
        await billing.reset()
    }
}
