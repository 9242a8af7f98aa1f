import Foundation
import Testing

@testable import BillingSDK

/// The privacy manifest, which Xcode gathers from the SDK's bundle.
///
/// Keys and values: developer.apple.com/documentation/bundleresources/privacy-manifest-files.
@Suite struct PrivacyTests {
    private func manifest() throws -> [String: Any] {
        let file = try #require(
            Texts.resources.url(forResource: "PrivacyInfo", withExtension: "xcprivacy")
        )
        let list = try PropertyListSerialization.propertyList(
            from: Data(contentsOf: file),
            format: nil
        )
        return try #require(list as? [String: Any])
    }

    @Test func nobodyIsTracked() throws {
        let manifest = try manifest()
        #expect(manifest["NSPrivacyTracking"] as? Bool == false)
        #expect((manifest["NSPrivacyTrackingDomains"] as? [String])?.isEmpty == true)
    }

    @Test func whatIsCollectedIsForTheAppAloneAndNamed() throws {
        let types = try #require(
            try manifest()["NSPrivacyCollectedDataTypes"] as? [[String: Any]]
        )
        let prefix = "NSPrivacyCollectedDataType"
        // Purchases, the customer's id, and age and accepted terms where the app records them.
        #expect(
            types.compactMap { $0[prefix] as? String }
                == ["PurchaseHistory", "UserID", "OtherDataTypes"].map { prefix + $0 }
        )
        for type in types {
            #expect(type[prefix + "Linked"] as? Bool == true)
            #expect(type[prefix + "Tracking"] as? Bool == false)
            #expect(type[prefix + "Purposes"] as? [String] == [prefix + "PurposeAppFunctionality"])
        }
    }

    /// The calls that need a reason, by
    /// developer.apple.com/documentation/bundleresources/describing-use-of-required-reason-api.
    private static let needReasons: [String: String] = [
        "FileTimestamp":
            #"creationDate|modificationDate|ModificationDate|getattrlist|\b[fl]?stat(at)?\("#,
        "SystemBootTime": #"systemUptime|mach_absolute_time"#,
        "DiskSpace":
            #"volume(Available|Total)Capacity|systemFreeSize|systemSize|statv?fs|getattrlist"#,
        "ActiveKeyboards": "activeInputModes",
        "UserDefaults": "UserDefaults|AppStorage",
    ]

    @Test func everyCallThatNeedsAReasonIsDeclaredAndNoOther() throws {
        let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Sources").standardizedFileURL
        let files = try #require(
            FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)
        ).compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
        #expect(files.count > 50)
        var used: Set<String> = []
        for file in files {
            let code = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
                .filter { !$0.drop { $0 == " " }.hasPrefix("//") }.joined(separator: "\n")
            for (category, pattern) in Self.needReasons
            where code.range(of: pattern, options: .regularExpression) != nil {
                used.insert("NSPrivacyAccessedAPICategory" + category)
            }
        }
        let declared = try #require(
            try manifest()["NSPrivacyAccessedAPITypes"] as? [[String: Any]]
        ).compactMap { $0["NSPrivacyAccessedAPIType"] as? String }
        #expect(Set(declared) == used)
    }
}
