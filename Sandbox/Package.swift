// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
// The stores, played on this machine, for any project: nothing here knows Tollgate.
//
//     swift run --package-path Sandbox sandbox app-store
import PackageDescription

let package = Package(
    name: "Sandbox",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "sandbox", targets: ["SandboxCLI"]),
        .library(name: "AppStoreSimulator", targets: ["AppStoreSimulator"]),
        .library(name: "GooglePlaySimulator", targets: ["GooglePlaySimulator"]),
        .library(name: "SandboxClock", targets: ["SandboxClock"]),
        .library(name: "SandboxCommands", targets: ["SandboxCommands"]),
        .library(name: "ScenarioWriting", targets: ["ScenarioWriting"]),
        .library(name: "StripeSimulator", targets: ["StripeSimulator"]),
    ],
    dependencies: [
        .package(name: "Shared", path: "../Shared"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
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
        .target(name: "SandboxClock"),
        .target(
            name: "AppStoreSimulator",
            dependencies: [
                "SandboxClock",
                .product(name: "AcceptedConnections", package: "Shared"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
            ]
        ),
        .target(
            name: "GooglePlaySimulator",
            dependencies: [
                "SandboxClock",
                .product(name: "AcceptedConnections", package: "Shared"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "_CryptoExtras", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
            ]
        ),
        .target(
            name: "StripeSimulator",
            dependencies: [
                "SandboxClock",
                .product(name: "AcceptedConnections", package: "Shared"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Markup", package: "Shared"),
                .product(name: "Mustache", package: "swift-mustache"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            resources: [.embedInCode("Pages")]
        ),

        // What happened, as a scenario that replays.
        .target(
            name: "ScenarioWriting",
            dependencies: [
                "AppStoreSimulator", "GooglePlaySimulator", "SandboxClock", "StripeSimulator",
            ]
        ),
        // The commands are `tollgate sandbox …` too.
        .target(
            name: "SandboxCommands",
            dependencies: [
                "AppStoreSimulator", "GooglePlaySimulator", "SandboxClock", "ScenarioWriting",
                "StripeSimulator",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "CommandOutput", package: "Shared"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ]
        ),
        .executableTarget(
            name: "SandboxCLI",
            dependencies: [
                "SandboxCommands",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "CommandOutput", package: "Shared"),
            ]
        ),

        .testTarget(
            name: "AppStoreSimulatorTests",
            dependencies: [
                "AppStoreSimulator", "SandboxClock",
                .product(name: "AcceptedConnections", package: "Shared"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ]
        ),
        .testTarget(
            name: "GooglePlaySimulatorTests",
            dependencies: ["GooglePlaySimulator", "SandboxClock"]
        ),
        .testTarget(
            name: "StripeSimulatorTests",
            dependencies: [
                "SandboxClock", "StripeSimulator",
                .product(name: "AcceptedConnections", package: "Shared"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ]
        ),
    ]
)

// `make test ONLY=NAME` builds no other tests.
if let only = Context.environment["TOLLGATE_TEST_TARGET"] {
    package.targets.removeAll { $0.type == .test && $0.name != only }
}

// Linking with lld takes 3 seconds instead of 13; warnings are errors everywhere.
for target in package.targets {
    target.swiftSettings = [
        .treatAllWarnings(as: .error),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]
    if target.type == .executable || target.type == .test {
        target.linkerSettings = [.unsafeFlags(["-use-ld=lld"], .when(platforms: [.linux]))]
    }
}
