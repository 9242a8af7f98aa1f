import Foundation
import Testing

/// The classes for Objective-C, held to what it can say: `@objcMembers` leaves out the rest without a word.
@Suite struct ObjectiveCTests {
    private static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Sources/BillingSDK/ObjectiveC")

    /// What Objective-C knows, as Swift spells it.
    private static let known: Set<String> = [
        "Bool", "Date", "Error", "Int", "MainActor", "NSNumber", "Name", "Notification", "Sendable",
        "String",
        "TimeInterval", "UIViewController", "URL", "Void",
    ]

    private func sources() throws -> [String: String] {
        let files = try FileManager.default.contentsOfDirectory(
            at: Self.folder,
            includingPropertiesForKeys: nil
        )
        return try Dictionary(
            uniqueKeysWithValues: files.map {
                ($0.lastPathComponent, try String(contentsOf: $0, encoding: .utf8))
            }
        )
    }

    /// The heads of the public members that Objective-C is to see, each on one line.
    private func members(_ source: String) -> [String] {
        let lines = source.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        var heads: [String] = []
        for (index, line) in lines.enumerated() {
            guard
                line.range(
                    of: #"^public (static |convenience )*(func|init|let|var)\b"#,
                    options: .regularExpression
                ) != nil,
                !lines[max(0, index - 2)..<index].contains(where: {
                    $0.contains("not visible in Objective-C")
                })
            else { continue }
            var head = ""
            for line in lines[index...] {
                head += line + " "
                if line.hasSuffix("{") || line.hasSuffix("}") || line.contains(" = ") { break }
            }
            heads.append(head)
        }
        return heads
    }

    private func matches(_ pattern: String, in text: String) throws -> [String] {
        let range = NSRange(text.startIndex..., in: text)
        return try NSRegularExpression(pattern: pattern).matches(in: text, range: range).compactMap
        {
            Range($0.range, in: text).map { String(text[$0]) }
        }
    }

    @Test func everyMemberUsesOnlyTypesOfObjectiveC() throws {
        let sources = try sources()
        let members = sources.values.flatMap(members)
        #expect(members.count > 20)
        for member in members {
            // Only the head: what is assigned or done is Swift's.
            let head = member.prefix { $0 != "{" }.prefix { $0 != "=" }
            let types = try matches(#"(?<![.\w])[A-Z]\w+"#, in: String(head))
            for type in types where !type.hasPrefix("TGBilling") {
                #expect(Self.known.contains(type), "\(type) in: \(member)")
            }
            // Numbers and enumerations cannot be missing there.
            let missing =
                #"\b(Bool|Int|TimeInterval|TGBilling(PurchaseResult|CheckoutReturn|ErrorCode))\?"#
            #expect(try matches(missing, in: String(head)).isEmpty, "\(member)")
        }
    }

    @Test func everyTypeHasItsNameInObjectiveC() throws {
        for (file, source) in try sources() {
            let lines = source.split(separator: "\n").map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            for (index, line) in lines.enumerated() {
                let kind = #"^public (final class|enum) TGBilling\w*"#
                guard let match = try matches(kind, in: line).first else { continue }
                let name = match.split(separator: " ").last.map(String.init) ?? ""
                let above = lines[max(0, index - 4)..<index]
                #expect(above.contains("@objc(\(name))"), "\(file): \(name)")
                #expect(line.contains("NSObject") || line.contains(": Int"), "\(file): \(name)")
                #expect(above.contains("@objcMembers") == line.contains("NSObject"), "\(name)")
            }
        }
    }
}
