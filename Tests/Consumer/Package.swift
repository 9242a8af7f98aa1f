// swift-tools-version: 6.0
// SPDX-License-Identifier: Apache-2.0
// An app that links BillingSDK and nothing else; `scripts/consumer-check.sh` builds it against a
// tagged copy of this repository, to show what such an app fetches.
import PackageDescription

let repository = Context.environment["TOLLGATE_REPOSITORY"] ?? "https://tollgate.invalid/tollgate"

let package = Package(
    name: "ConsumerApp",
    platforms: [.iOS(.v15), .macOS(.v12)],
    dependencies: [.package(url: repository, from: "1.0.0")],
    targets: [
        .executableTarget(
            name: "ConsumerApp",
            dependencies: [.product(name: "BillingSDK", package: "tollgate")]
        )
    ]
)
