/// A dated version of the API: it decides the shapes of answers and of events.
/// https://docs.stripe.com/upgrades
struct APIVersion: Hashable, Sendable {
    /// `2026-09-30.endive`.
    let text: String

    /// The versions whose shapes are told apart, the newest first; older ones get the last's.
    static let told = ["2026-10-28.endive", "2026-09-30.endive", "2026-08-26.dahlia"]

    /// `nil`: it is no date, with or without a name.
    init?(_ text: String) {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let date = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard date.map(\.count) == [4, 2, 2],
            date.allSatisfy({ $0.allSatisfy { $0.isASCII && $0.isNumber } }),
            parts.count == 1 || parts[1].first?.isLetter == true
        else { return nil }
        self.text = text
    }

    /// Whether it is of this day or later.
    func isSince(_ day: String) -> Bool { text >= day }
}

extension APIVersion {
    /// Members that came with a version, by the kind of object they are in.
    private struct Arrival {
        var day: String
        var members: [String: [String]]
    }

    /// https://docs.stripe.com/changelog.
    private static let arrivals = [
        Arrival(
            day: "2026-10-28",
            members: [
                "billing_portal.configuration": ["features.subscription_pause"],
                "billing_portal.session": ["after_expiration", "flow.subscription_pause"],
                "dispute": ["evidence_details.submission_method", "intended_submission_method"],
            ]
        ),
        Arrival(
            day: "2026-09-30",
            members: [
                "checkout.session": ["allowed_payment_method_types"],
                "invoice": ["status_details"], "invoiceitem": ["invoicing_rules"],
                "payment_intent": ["payment_record"], "product": ["tax_details"],
                "subscription": [
                    "pending_update.cancel_at_period_end", "status_details",
                    "trial_settings.end_behavior.billing_cycle_anchor",
                ],
                "subscription_item": ["current_trial"],
                "subscription_schedule": ["pause_schedules"],
            ]
        ),
    ]

    /// The names of `ui_mode` before 2026-03-25.dahlia and since.
    private static let interfaces = [
        ("hosted", "hosted_page"), ("embedded", "embedded_page"), ("custom", "elements"),
    ]

    /// `value` as this version shows it; an event has the shapes of its own version.
    ///
    /// - Parameter name: what kind of object it is where it does not say so itself.
    func shape(_ value: JSON, as name: String? = nil) -> JSON {
        let absent = Self.arrivals.filter { !isSince($0.day) }.map(\.members)
        return shape(value, as: name, without: absent)
    }

    private func shape(
        _ value: JSON,
        as name: String? = nil,
        without absent: [[String: [String]]]
    ) -> JSON {
        switch value {
        case .array(let elements):
            return .array(elements.map { shape($0, without: absent) })
        case .object(let members) where members["object"] == "event":
            var event = value
            event["data"] = (APIVersion(value["api_version"].text) ?? self).data(value["data"])
            return event
        case .object(let members):
            var shown = JSON.object(
                members.mapValues { inner in
                    switch inner {
                    case .array, .object: shape(inner, without: absent)
                    default: inner
                    }
                }
            )
            guard let name = name ?? members["object"]?.string else { return shown }
            for path in absent.flatMap({ $0[name] ?? [] }) {
                shown.remove(path.split(separator: ".").map(String.init)[...])
            }
            if name == "checkout.session", let mode = members["ui_mode"]?.string {
                shown["ui_mode"] = .string(interface(mode))
            }
            return shown
        default: return value
        }
    }

    /// What an event is about, and what of it was otherwise before.
    private func data(_ data: JSON) -> JSON {
        var shown = data
        shown["object"] = shape(data["object"])
        if !data["previous_attributes"].isNull {
            let name = data["object"]["object"].string
            shown["previous_attributes"] = shape(data["previous_attributes"], as: name)
        }
        return shown
    }

    private func interface(_ mode: String) -> String {
        let pair = Self.interfaces.first { $0.0 == mode || $0.1 == mode }
        guard let pair else { return mode }
        return isSince("2026-03-25") ? pair.1 : pair.0
    }
}

extension JSON {
    /// Removes the member at the end of a path, if it is there.
    fileprivate mutating func remove(_ path: ArraySlice<String>) {
        guard let first = path.first, members?[first] != nil else { return }
        guard path.count > 1 else { return remove(first) }
        var inner = self[first]
        inner.remove(path.dropFirst())
        self[first] = inner
    }
}
