// swift-tools-version: 6.0
// SPDX-License-Identifier: Apache-2.0
// What an app links. It has no dependencies, and must never have any: an app that adds this package
// fetches this one checkout and nothing else. The server lives in `Server/`, a package of its own.
import PackageDescription

let package = Package(
    name: "BillingSDK",
    defaultLocalization: "en",
    platforms: [.iOS(.v15), .macOS(.v12)],
    products: [
        .library(name: "BillingSDK", targets: ["BillingSDK"]),
        .library(name: "TollgateAPI", targets: ["TollgateAPI"]),
        .library(name: "TollgateCore", targets: ["TollgateCore"]),
    ],
    targets: [
        .target(name: "TollgateCore"),
        .target(name: "TollgateAPI", dependencies: ["TollgateCore"]),
        .target(
            name: "BillingSDK",
            dependencies: ["TollgateAPI", "TollgateCore"],
            resources: [.process("Resources")]
        ),
        .testTarget(name: "TollgateCoreTests", dependencies: ["TollgateCore"]),
        .testTarget(
            name: "BillingSDKTests",
            dependencies: ["BillingSDK", "TollgateAPI", "TollgateCore"]
        ),
    ]
)

// `make test ONLY=NAME` builds no other tests.
if let only = Context.environment["TOLLGATE_TEST_TARGET"] {
    package.targets.removeAll { $0.type == .test && $0.name != only }
}
