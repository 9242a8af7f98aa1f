import Foundation

/// A link to the page where the customer manages what they bought.
///
/// It is made for this customer and short-lived: get a new one for every visit.
public final class CustomerPortal: Sendable {
    /// The page's address.
    public let url: String
    let client: BillingClient

    init(url: String, client: BillingClient) {
        self.url = url
        self.client = client
    }
}
