/// Every report about a free subscription, the oldest first.
public struct FreeSubscriptionReports: Hashable, Codable, Sendable {
    /// At least one.
    public private(set) var reports: [Newest<FreeSubscription>]

    public var newest: Newest<FreeSubscription>? { reports.last }

    public init(from decoder: any Decoder) throws {
        reports = try [Newest<FreeSubscription>](from: decoder)
    }

    public func encode(to encoder: any Encoder) throws { try reports.encode(to: encoder) }

    fileprivate init() { reports = [] }

    /// All reports count, each at its time; of two at one instant the larger bytes stay.
    fileprivate mutating func join(_ stated: Newest<FreeSubscription>) {
        switch reports.position(of: stated.stated, by: { $0.stated }) {
        case .missing(let index): reports.insert(stated, at: index)
        case .found(let index): reports[index].join(stated)
        }
    }

    var names: [Holder] { reports.map { .customer($0.value.customer) } }

    /// The spans in which it was on, of which the first begins at `start`.
    func spans(since start: Instant) -> [(since: Instant, until: Instant?)] {
        var spans: [(since: Instant, until: Instant?)] = []
        var since: Instant? = start
        for report in reports where report.stated.instant >= start {
            switch (since, report.value.isOn) {
            case (nil, true): since = report.stated.instant
            case (let began?, false):
                if began < report.stated.instant { spans.append((began, report.stated.instant)) }
                since = nil
            default: break
            }
        }
        if let since { spans.append((since, nil)) }
        return spans
    }
}

extension FreeSubscriptionReports? {
    mutating func join(_ stated: Newest<FreeSubscription>) {
        var reports = self ?? FreeSubscriptionReports()
        reports.join(stated)
        self = reports
    }
}
