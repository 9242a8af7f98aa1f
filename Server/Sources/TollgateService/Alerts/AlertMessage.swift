// SPDX-License-Identifier: Apache-2.0
/// News of alarms as one text for people.
package struct AlertMessage: Hashable, Sendable {
    /// Unique to one attempt to tell.
    package var id: String
    package var text: String

    /// The most characters of a message: Discord takes 2,000.
    static let longest = 1_800
    /// The most characters of one alarm.
    static let longestLine = 500

    /// - Parameter server: the address by which people know the server.
    init(id: String, _ news: [AlertNews], of server: String) {
        var text = "Tollgate at \(server)"
        var left = news.count
        for line in news.map(Self.line) {
            guard text.count + line.count < Self.longest else { break }
            text += "\n" + line
            left -= 1
        }
        if left > 0 { text += "\n… and \(left) more" }
        (self.id, self.text) = (id, text)
    }

    private static func line(_ news: AlertNews) -> String {
        let remedy = news.remedy.map { " → \($0)" } ?? ""
        let line =
            switch news.kind {
            case .raised: "ALARM: \(news.sentence)\(remedy)"
            case .reminder: "STILL, since \(news.since): \(news.sentence)\(remedy)"
            case .cleared: "ALL CLEAR, after \(news.since): \(news.sentence)"
            }
        return line.count <= longestLine ? line : String(line.prefix(longestLine - 1)) + "…"
    }
}
