import Foundation

/// A report being written: named columns, and lines that give values to some of them.
struct ReportTable {
    var columns: [String]
    private(set) var lines: [[String: String]] = []

    init(_ columns: [String]) {
        self.columns = columns
    }

    mutating func add(_ values: [String: String]) {
        lines.append(values)
    }

    /// Tabs between the values, a line for each; nil without any line.
    func file(trailer: [String] = []) -> Data? {
        guard !lines.isEmpty else { return nil }
        let rows = lines.map { line in
            columns.map { line[$0] ?? "" }.joined(separator: "\t")
        }
        let text = ([columns.joined(separator: "\t")] + rows + trailer).joined(separator: "\n")
        return Data((text + "\n").utf8)
    }
}

extension ReportTable {
    static let sales = [
        "Provider", "Provider Country", "SKU", "Developer", "Title", "Version",
        "Product Type Identifier", "Units", "Developer Proceeds", "Begin Date", "End Date",
        "Customer Currency", "Country Code", "Currency of Proceeds", "Apple Identifier",
        "Customer Price", "Promo Code", "Parent Identifier", "Subscription", "Period", "Category",
        "CMB", "Device", "Supported Platforms", "Proceeds Reason", "Preserved Pricing", "Client",
        "Order Type",
    ]
    private static let plan = [
        "App Name", "App Apple ID", "Subscription Name", "Subscription Apple ID",
        "Subscription Group ID", "Standard Subscription Duration",
    ]
    private static let ways = ["Free Trial", "Pay Up Front", "Pay As You Go"]
    static let subscription =
        plan + [
            "Subscription Offer Name", "Promotional Offer ID", "Customer Price",
            "Customer Currency", "Developer Proceeds", "Proceeds Currency", "Preserved Pricing",
            "Proceeds Reason", "Client", "Device", "State", "Country",
            "Active Standard Price Subscriptions",
        ] + ways.map { "Active \($0) Introductory Offer Subscriptions" }
        + ways.map { "\($0) Promotional Offer Subscriptions" }
        + ways.map { "\($0) Offer Code Subscriptions" } + [
            "Marketing Opt-Ins", "Billing Retry", "Grace Period", "Subscribers",
        ] + ways.map { "\($0) Win-Back Offers" }
    static let subscriptionEvent =
        ["Event Date", "Event"] + plan + [
            "Subscription Offer Type", "Subscription Offer Duration", "Marketing Opt-In",
            "Marketing Opt-In Duration", "Preserved Pricing", "Proceeds Reason",
            "Subscription Offer Name", "Promotional Offer ID", "Consecutive Paid Periods",
            "Original Start Date", "Device", "Client", "State", "Country",
            "Previous Subscription Name", "Previous Subscription Apple ID",
            "Days Before Canceling", "Cancellation Reason", "Days Canceled", "Quantity",
            "Paid Service Days Recovered",
        ]
    static let subscriber =
        ["Event Date"] + plan + [
            "Subscription Offer Name", "Promotional Offer ID", "Subscription Offer Type",
            "Subscription Offer Duration", "Marketing Opt-In Duration", "Customer Price",
            "Customer Currency", "Developer Proceeds", "Proceeds Currency", "Preserved Pricing",
            "Proceeds Reason", "Client", "Device", "Country", "Subscriber ID",
            "Subscriber ID Reset", "Refund", "Purchase Date", "Units",
        ]
    static let financial = [
        "Start Date", "End Date", "UPC", "ISRC/ISBN", "Vendor Identifier", "Quantity",
        "Partner Share", "Extended Partner Share", "Partner Share Currency", "Sales or Return",
        "Apple Identifier", "Artist/Show/Developer/Author", "Title",
        "Label/Studio/Network/Developer/Publisher", "Grid", "Product Type Identifier",
        "ISAN/Other Identifier", "Country Of Sale", "Pre-order Flag", "Promo Code",
        "Customer Price", "Customer Currency",
    ]
}
