import Foundation
import Testing

/// What the compiler cannot check: the domain takes clock, chance and network from outside.
struct TidyTests {
    struct Rule: CustomTestStringConvertible, Sendable {
        let banned: String
        let instead: String

        var testDescription: String { banned }
    }

    static let rules = [
        Rule(banned: "Date()", instead: "take an Instant as an argument"),
        Rule(banned: "Date.now", instead: "take an Instant as an argument"),
        Rule(banned: "UUID()", instead: "derive an id from its cause, or take one as an argument"),
        Rule(banned: ".random(", instead: "take `inout some RandomNumberGenerator`"),
        Rule(banned: ".shuffled()", instead: "take `inout some RandomNumberGenerator`"),
        Rule(banned: ".randomElement()", instead: "take `inout some RandomNumberGenerator`"),
        Rule(banned: "URLSession", instead: "leave the network to the caller"),
        Rule(banned: "FileManager", instead: "leave files to the caller"),
        Rule(banned: "ProcessInfo", instead: "leave the process to the caller"),
        Rule(banned: "DispatchTime", instead: "take an Instant as an argument"),
        Rule(banned: "ContinuousClock", instead: "take an Instant as an argument"),
        Rule(banned: "Task {", instead: "leave concurrency to the caller"),
    ]

    @Test(arguments: rules)
    func theDomainTakesTimeChanceAndNetworkFromOutside(_ rule: Rule) throws {
        for (name, text) in try Self.sources(of: "TollgateCore") {
            for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false)
                .enumerated()
            where !line.trimmingPrefix(while: \.isWhitespace).hasPrefix("//") {
                #expect(
                    !line.contains(rule.banned),
                    "\(name):\(index + 1): \(rule.banned) in the domain; \(rule.instead)"
                )
            }
        }
    }

    @Test(arguments: ["TollgateCore", "TollgateAPI", "BillingSDK"])
    func noFileIsNamedAfterNothing(_ target: String) throws {
        let vague = ["Utils", "Helpers", "Manager", "Misc", "Common", "Extensions"]
        for (name, _) in try Self.sources(of: target) {
            #expect(!vague.contains { name.contains($0) }, "\(name): name the idea it holds")
        }
    }

    /// The Swift files of a target, by their path inside it.
    private static func sources(of target: String) throws -> [(name: String, text: String)] {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let folder = root.appendingPathComponent("Sources").appendingPathComponent(target)
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".swift") }
            .sorted()
        try #require(!names.isEmpty)
        return try names.map { name in
            (name, try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8))
        }
    }
}
