// swift-tools-version: 6.0
// SPDX-License-Identifier: Apache-2.0
// Two programs that differ by BillingSDK alone: what it adds to an app, measured by scripts/sdk-figures.sh.
import PackageDescription

let package = Package(
    name: "Figures",
    dependencies: [.package(name: "BillingSDK", path: "../..")],
    targets: [
        .executableTarget(name: "WithoutSDK"),
        .executableTarget(
            name: "WithSDK",
            dependencies: [.product(name: "BillingSDK", package: "BillingSDK")]
        ),
    ]
)
