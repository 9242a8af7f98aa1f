import Foundation

extension BillingSDK {
    /// A link that begins a purchase of `productID` as the App Store's page would, for tests on a device.
    ///
    /// Nil if one of the ids is empty.
    public static func purchaseIntentTestLink(bundleID: String, productID: String) -> URL? {
        guard !bundleID.isEmpty, !productID.isEmpty else { return nil }
        var link = URLComponents()
        link.scheme = "itms-services"
        link.host = ""
        link.queryItems = [
            URLQueryItem(name: "action", value: "purchaseIntent"),
            URLQueryItem(name: "bundleId", value: bundleID),
            URLQueryItem(name: "productIdentifier", value: productID),
        ]
        return link.url
    }
}
