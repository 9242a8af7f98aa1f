// SPDX-License-Identifier: Apache-2.0
import Testing
import TollgateCore
import TollgateService

@Suite("A check-up")
struct CheckUpTests {
    @Test("Findings stand in the order of the parts, whichever answers first")
    func order() async {
        let (first, open) = AsyncStream.makeStream(of: Void.self)
        let checkUp = CheckUp([
            .init("slow") {
                for await _ in first { break }
                return [.ok("a", "A."), .ok("b", "B.")]
            },
            .init("quick") {
                open.finish()
                return [.ok("c", "C.")]
            },
        ])
        let findings = await checkUp.findings(within: .seconds(300))
        #expect(findings.map(\.check) == ["a", "b", "c"])
    }

    @Test("A part that does not answer in time has failed, and is not waited for")
    func late() async {
        let checkUp = CheckUp([
            .init("stripe") {
                try? await Task.sleep(for: .seconds(86_400))
                return [.ok("stripe.key", "Stripe takes the key.")]
            }
        ])
        let findings = await checkUp.findings(within: .zero)
        #expect(findings.map(\.check) == ["stripe"])
        #expect(findings.map(\.state) == [.failed])
        #expect(findings.first?.sentence == "Not all of it answered within 0 seconds.")
    }

    @Test("The sentence of a failure ends with a full stop, whoever wrote it")
    func sentences() {
        #expect(Finding.failed("x", "it was refused", "Try.").sentence == "it was refused.")
        #expect(Finding.failed("x", "Did you mean y?", "Try.").sentence == "Did you mean y?")
    }
}
