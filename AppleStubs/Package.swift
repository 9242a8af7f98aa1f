// swift-tools-version: 6.0
// SPDX-License-Identifier: Apache-2.0
// Linux only: stand-ins for Apple's frameworks, so that BillingSDK's Apple-only code compiles and runs
// there. No package dependencies, ever: a module named `Combine` in the graph changes what
// `canImport(Combine)` says to everybody. For the same reason each target lists the stubs it needs.
import PackageDescription

let stubs: [Target.Dependency] = [
    "Combine", "DeclaredAgeRange", "Network", "SafariServices", "StoreKit", "SwiftUI", "UIKit",
]
let asApple: SwiftSetting = .define("BILLING_APPLE_STUBS")

let package = Package(
    name: "AppleStubs",
    defaultLocalization: "en",
    targets: [
        .target(name: "Combine", swiftSettings: [.swiftLanguageMode(.v5)]),
        .target(name: "Network", swiftSettings: [.swiftLanguageMode(.v5)]),
        .target(name: "UIKit", swiftSettings: [.swiftLanguageMode(.v5)]),
        .target(
            name: "SafariServices",
            dependencies: ["UIKit"],
            swiftSettings: [.swiftLanguageMode(.v5)]
        ),
        .target(
            name: "DeclaredAgeRange",
            dependencies: ["UIKit"],
            swiftSettings: [.swiftLanguageMode(.v5)]
        ),
        .target(
            name: "StoreKit",
            dependencies: ["UIKit"],
            swiftSettings: [.swiftLanguageMode(.v5)]
        ),
        .target(
            name: "SwiftUI",
            dependencies: ["Combine", "UIKit"],
            swiftSettings: [.swiftLanguageMode(.v5)]
        ),

        // The real sources, through links: a target's path may not leave its package.
        .target(name: "TollgateCore"),
        .target(name: "TollgateAPI", dependencies: ["TollgateCore"]),
        .target(
            name: "BillingSDK",
            dependencies: ["TollgateAPI", "TollgateCore"] + stubs,
            resources: [.process("Resources")],
            swiftSettings: [asApple]
        ),

        // Samples as an app's developer writes them, in Xcode's default language mode. On Apple,
        // Foundation holds URLSession; the flags make that so here.
        .target(
            name: "DocSamples",
            dependencies: ["BillingSDK"] + stubs,
            swiftSettings: [
                asApple, .swiftLanguageMode(.v5),
                .unsafeFlags([
                    "-Xfrontend", "-import-module", "-Xfrontend", "FoundationNetworking",
                ]),
            ]
        ),
        // The sample app, through a link, and a terminal for it: tests drive it against the sandbox.
        .target(
            name: "ExampleApp",
            dependencies: ["BillingSDK"] + stubs,
            swiftSettings: [
                asApple,
                .unsafeFlags([
                    "-Xfrontend", "-import-module", "-Xfrontend", "FoundationNetworking",
                ]),
            ]
        ),
        .executableTarget(
            name: "ExampleDriver",
            dependencies: ["BillingSDK", "ExampleApp"] + stubs,
            swiftSettings: [asApple]
        ),
        // The SDK's views as pages for a browser: tests look at them, and make pictures.
        .executableTarget(
            name: "ViewPictures",
            dependencies: ["BillingSDK", "TollgateAPI", "TollgateCore"] + stubs,
            swiftSettings: [asApple]
        ),
        // Beside a module named UIKit, Testing would look for an overlay that only Apple has.
        .testTarget(
            name: "AppleGlueTests",
            dependencies: ["BillingSDK", "DocSamples", "TollgateAPI", "TollgateCore"] + stubs,
            swiftSettings: [
                asApple, .unsafeFlags(["-Xfrontend", "-disable-cross-import-overlays"]),
            ]
        ),
    ]
)
