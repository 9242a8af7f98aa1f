// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
// Small things that server and sandbox both need; neither of the two fetches more for it.
import PackageDescription

let package = Package(
    name: "Shared",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "AcceptedConnections", targets: ["AcceptedConnections"]),
        .library(name: "CommandOutput", targets: ["CommandOutput"]),
        .library(name: "Markup", targets: ["Markup"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        // Only the trait that we use. With two, SwiftPM orders the compiler flags differently at each
        // plan and rebuilds everything.
        .package(
            url: "https://github.com/hummingbird-project/hummingbird",
            from: "2.28.1",
            traits: ["ConfigurationSupport"]
        ),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    ],
    targets: [
        // A server may end while connections come.
        .target(
            name: "AcceptedConnections",
            dependencies: [
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
            ]
        ),
        // What a command says, how it ends, and errors in words for a person.
        .target(
            name: "CommandOutput",
            dependencies: [
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
            ]
        ),
        // Values escaped for HTML, XML and SVG.
        .target(
            name: "Markup",
            dependencies: [.product(name: "Mustache", package: "swift-mustache")]
        ),
        .testTarget(
            name: "MarkupTests",
            dependencies: ["Markup", .product(name: "Mustache", package: "swift-mustache")]
        ),
    ]
)

for target in package.targets {
    target.swiftSettings = [
        .treatAllWarnings(as: .error),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]
}
