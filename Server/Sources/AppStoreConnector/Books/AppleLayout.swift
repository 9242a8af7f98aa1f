/// The columns of Apple's reports in which our figures are written too.
///
/// See https://developer.apple.com/help/app-store-connect/reference/reporting.
package enum AppleLayout {
    /// SALES.
    case sales
    /// SUBSCRIPTION.
    case subscriptions
    /// SUBSCRIPTION_EVENT.
    case events
    /// SUBSCRIBER.
    case subscribers

    private static let plan = [
        "App Name", "App Apple ID", "Subscription Name", "Subscription Apple ID",
        "Subscription Group ID", "Standard Subscription Duration",
    ]
    private static let subscriptionColumns: [String] = {
        var columns = plan
        columns += [
            "Subscription Offer Name", "Promotional Offer ID", "Customer Price",
            "Customer Currency", "Developer Proceeds", "Proceeds Currency",
            "Preserved Pricing", "Proceeds Reason", "Client", "Device", "State", "Country",
            "Active Standard Price Subscriptions",
        ]
        let ways = ["Free Trial", "Pay Up Front", "Pay As You Go"]
        for offer in ["Introductory Offer", "Promotional Offer", "Offer Code"] {
            columns += ways.map { way in "Active \(way) \(offer) Subscriptions" }
        }
        columns += ["Marketing Opt-Ins", "Billing Retry", "Grace Period", "Subscribers"]
        columns += ways.map { way in "\(way) Win-Back Offers" }
        return columns
    }()

    /// The names of the columns, in Apple's order.
    package var columns: [String] {
        switch self {
        case .sales:
            [
                "Provider", "Provider Country", "SKU", "Developer", "Title", "Version",
                "Product Type Identifier", "Units", "Developer Proceeds", "Begin Date",
                "End Date", "Customer Currency", "Country Code", "Currency of Proceeds",
                "Apple Identifier", "Customer Price", "Promo Code", "Parent Identifier",
                "Subscription", "Period", "Category", "CMB", "Device",
                "Supported Platforms", "Proceeds Reason", "Preserved Pricing", "Client",
                "Order Type",
            ]
        case .subscriptions:
            Self.subscriptionColumns
        case .events:
            ["Event Date", "Event"] + Self.plan + [
                "Subscription Offer Type", "Subscription Offer Duration",
                "Marketing Opt-In", "Marketing Opt-In Duration", "Preserved Pricing",
                "Proceeds Reason", "Subscription Offer Name", "Promotional Offer ID",
                "Consecutive Paid Periods", "Original Start Date", "Device", "Client",
                "State", "Country", "Previous Subscription Name",
                "Previous Subscription Apple ID", "Days Before Canceling",
                "Cancellation Reason", "Days Canceled", "Quantity",
                "Paid Service Days Recovered",
            ]
        case .subscribers:
            ["Event Date"] + Self.plan + [
                "Subscription Offer Name", "Promotional Offer ID",
                "Subscription Offer Type", "Subscription Offer Duration",
                "Marketing Opt-In Duration", "Customer Price", "Customer Currency",
                "Developer Proceeds", "Proceeds Currency", "Preserved Pricing",
                "Proceeds Reason", "Client", "Device", "Country", "Subscriber ID",
                "Subscriber ID Reset", "Refund", "Purchase Date", "Units",
            ]
        }
    }

    /// Lines under these columns.
    func text(_ lines: [[String: String]]) -> String {
        let columns = columns
        return ([columns] + lines.map { line in columns.map { line[$0] ?? "" } })
            .map { cells in
                cells.map { cell in
                    String(cell.map { $0 == "\t" || $0.isNewline ? " " : $0 })
                }.joined(separator: "\t")
            }.joined(separator: "\n") + "\n"
    }

    /// Adds up the counts of lines that are otherwise equal.
    func merged(_ lines: [[String: String]], counts: [String]) -> [[String: String]] {
        var sums: [[String: String]: [Int64]] = [:]
        for line in lines {
            var key = line
            for count in counts { key[count] = nil }
            let values = counts.map { Int64(line[$0] ?? "") ?? 0 }
            let known = sums[key] ?? counts.map { _ in 0 }
            sums[key] = zip(known, values).map { $0 + $1 }
        }
        let columns = columns
        return sums.map { key, values in
            var line = key
            for (count, value) in zip(counts, values) { line[count] = String(value) }
            return line
        }.sorted { left, right in
            columns.map { left[$0] ?? "" }.lexicographicallyPrecedes(
                columns.map { right[$0] ?? "" }
            )
        }
    }
}
