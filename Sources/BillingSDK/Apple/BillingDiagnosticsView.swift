#if canImport(SwiftUI)
    import SwiftUI

    /// The SDK's state, for the app's developers; in English, and not meant for customers.
    public struct BillingDiagnosticsView: View {
        private let billing: BillingSDK
        @State private var looks = 0

        /// A screen about this SDK.
        public init(billing: BillingSDK) { self.billing = billing }

        /// One line for each thing, and a button to look again.
        public var body: some View {
            List {
                ForEach(lines) { line in Text(verbatim: line.text) }
                Button(action: { looks += 1 }) { Text(verbatim: "Look again (\(looks))") }
            }
        }

        private struct Line: Identifiable {
            let id: Int
            let text: String
        }

        private var lines: [Line] {
            let known = billing.diagnostics()
            var texts = [
                "Server: \(known.server)", "Test mode: \(known.isTestMode)",
                "Signed in: \(known.isSignedIn)",
            ]
            if let answer = known.lastAnswer {
                let keys = answer.lookupKeys.joined(separator: ", ")
                texts.append("Answer: \(keys.isEmpty ? "nothing" : keys)")
                texts.append("Asked: \(answer.takenAt), fresh: \(answer.isFresh)")
            } else {
                texts.append("Answer: none since launch")
            }
            texts += [
                "Can verify signed answers: \(known.canVerifyAnswers)",
                "Transactions that wait: \(known.waitingTransactions)",
                "Purchases in the inbox: \(known.pendingPurchases)",
            ]
            texts += known.problems.map { "\($0.date) \($0.level): \($0.message)" }
            return texts.enumerated().map { Line(id: $0, text: $1) }
        }
    }
#endif
