// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
// The server and the command line. The arrows between targets are the architecture
// (see ARCHITECTURE.md); an import that is not declared here is an error.
import PackageDescription

let package = Package(
    name: "Server",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "tollgate", targets: ["TollgateCLI"])
    ],
    dependencies: [
        .package(name: "BillingSDK", path: ".."),
        .package(name: "Sandbox", path: "../Sandbox"),
        .package(name: "Shared", path: "../Shared"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
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
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
    ],
    targets: [
        // MARK: - The stores' contracts
        .target(name: "StrictJSON"),
        // What many write alike: Base64, days, HTTP dates, comma-separated values.
        .target(name: "TextFormats"),
        .systemLibrary(
            name: "CZlib",
            pkgConfig: "zlib",
            providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]
        ),
        .target(
            name: "AppStoreAPI",
            dependencies: [
                "CZlib", "StrictJSON", "TextFormats",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
            ]
        ),
        .testTarget(name: "StrictJSONTests", dependencies: ["StrictJSON"]),
        .testTarget(name: "TextFormatsTests", dependencies: ["TextFormats"]),
        .testTarget(
            name: "AppStoreAPITests",
            dependencies: [
                "AppStoreAPI", "StrictJSON",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
            ]
        ),
        .target(
            name: "StripeAPI",
            dependencies: [
                "StrictJSON", "TextFormats", .product(name: "Crypto", package: "swift-crypto"),
            ]
        ),

        .target(
            name: "GooglePlayAPI",
            dependencies: [
                "CZlib", "StrictJSON", "TextFormats",
                .product(name: "JWTKit", package: "jwt-kit"),
            ]
        ),
        .testTarget(
            name: "GooglePlayAPITests",
            dependencies: [
                "GooglePlayAPI", "StrictJSON",
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "JWTKit", package: "jwt-kit"),
            ]
        ),

        // Spans of the server's work, sent to a collector of OpenTelemetry.
        .target(
            name: "Traces",
            dependencies: [.product(name: "Tracing", package: "swift-distributed-tracing")]
        ),
        .testTarget(
            name: "TracesTests",
            dependencies: [
                "Traces", .product(name: "Tracing", package: "swift-distributed-tracing"),
            ]
        ),

        // MARK: - Where what they say is kept
        .target(
            name: "Storage",
            dependencies: [
                "TextFormats", "Traces", .core, .product(name: "Crypto", package: "swift-crypto"),
            ]
        ),
        // Gathers small writes of SQLite's into large ones.
        .target(name: "CSQLiteWriteBuffer", linkerSettings: [.linkedLibrary("sqlite3")]),
        .systemLibrary(
            name: "CSQLite",
            pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite3"])]
        ),
        .target(name: "StorageSQLite", dependencies: ["CSQLite", "CSQLiteWriteBuffer", "Storage"]),
        .systemLibrary(
            name: "CLibPQ",
            pkgConfig: "libpq",
            providers: [.apt(["libpq-dev"]), .brew(["libpq"])]
        ),
        .target(name: "StoragePostgres", dependencies: ["CLibPQ", "Storage"]),

        // MARK: - Figures over what was recorded
        .target(
            name: "Reports",
            dependencies: [.core, .markup]
        ),
        .testTarget(
            name: "ReportsTests",
            dependencies: [
                "AppStoreAPI", "AppStoreConnector", "Reports", "Storage", "Stores",
                "StripeConnector", "TollgateAssembly", "TollgateService", "TollgateSimulation",
                .core,
            ]
        ),

        // MARK: - What every store needs once
        .target(
            name: "Stores",
            dependencies: [
                "Reports", "Storage", "StrictJSON", "TextFormats", "Traces", .api, .core,
                .product(name: "Logging", package: "swift-log"),
            ]
        ),

        // MARK: - A room for each store: none knows another, nor the application
        .target(
            name: "AppStoreConnector",
            dependencies: [
                "AppStoreAPI", "Reports", "Storage", "Stores", "StrictJSON", "TextFormats",
                "Traces", .api, .core,
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),

        .target(
            name: "StripeConnector",
            dependencies: [
                "Reports", "Storage", "Stores", "StrictJSON", "StripeAPI", "TextFormats", "Traces",
                .api, .core,
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),

        .target(
            name: "GooglePlayConnector",
            dependencies: [
                "GooglePlayAPI", "Reports", "Storage", "Stores", "StrictJSON", "TextFormats",
                "Traces", .api, .core,
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),

        // MARK: - A second opinion: shares nothing with the engine but the catalog
        .target(name: "SecondOpinion", dependencies: ["Storage", "StrictJSON", .core]),

        // MARK: - The application: it knows no store's room
        .target(
            name: "TollgateService",
            dependencies: [
                "Reports", "SecondOpinion", "Storage", "Stores", "StrictJSON", "TextFormats", .api,
                .core,
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Yams", package: "Yams"),
            ]
        ),
        // Builds every store's room and hands it to the application.
        .target(
            name: "TollgateAssembly",
            dependencies: [
                "AppStoreAPI", "AppStoreConnector", "GooglePlayConnector", "Reports", "Storage",
                "Stores", "StripeAPI", "StripeConnector", "TextFormats", "TollgateService", .api,
                .core,
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .systemLibrary(
            name: "CCurl",
            pkgConfig: "libcurl",
            providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]
        ),
        .target(
            name: "TollgateServer",
            dependencies: [
                "AppStoreConnector", "CCurl", "GooglePlayConnector", "Reports", "Storage", "Stores",
                "StripeConnector", "TextFormats", "TollgateAssembly", "TollgateService", "Traces",
                .acceptedConnections, .api, .core, .markup,
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Mustache", package: "swift-mustache"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            resources: [.embedInCode("Pages")]
        ),

        // MARK: - Worlds and scenarios, with the stores in the same process
        .target(
            name: "TollgateSimulation",
            dependencies: [
                "AppStoreAPI", "AppStoreConnector", "CLibPQ", "GooglePlayAPI",
                "GooglePlayConnector", "Reports", "SecondOpinion", "Storage", "StoragePostgres",
                "StorageSQLite", "Stores", "StripeAPI", "StripeConnector", "TollgateAssembly",
                "TollgateService", .api,
                .appStoreSimulator, .core, .googlePlaySimulator, .sandboxClock, .scenarioWriting,
                .stripeSimulator,
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Yams", package: "Yams"),
            ]
        ),

        // MARK: - The command line, the only place that picks a driver
        .target(name: "CBuildInfo"),
        .executableTarget(
            name: "TollgateCLI",
            dependencies: [
                "AppStoreAPI", "AppStoreConnector", "CBuildInfo", "GooglePlayAPI",
                "GooglePlayConnector",
                "Reports", "Storage", "StoragePostgres", "StorageSQLite", "Stores", "StrictJSON",
                "StripeAPI", "StripeConnector",
                "TollgateAssembly", "TollgateServer", "TollgateService", "TollgateSimulation",
                "Traces", .api,
                .appStoreSimulator, .commandOutput, .googlePlaySimulator, .sandboxCommands, .core,
                .markup, .sandboxClock, .stripeSimulator,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "BillingSDK", package: "BillingSDK"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Mustache", package: "swift-mustache"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            resources: [.embedInCode("Pages")]
        ),

        // MARK: - What `make bench` measures with
        .executableTarget(
            name: "SignatureBenchmark",
            dependencies: [
                "AppStoreAPI", "StripeAPI",
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            path: "Benchmarks/SignatureBenchmark"
        ),
        .executableTarget(
            name: "FillDatabase",
            dependencies: [
                "Storage", "StoragePostgres", "StorageSQLite", "Stores", "TollgateAssembly",
                "TollgateService", .api,
                .core,
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Benchmarks/FillDatabase"
        ),

        // MARK: - Tests
        .testTarget(
            name: "ScenarioTests",
            dependencies: ["TollgateSimulation", .appStoreSimulator]
        ),
        .testTarget(
            name: "SecondOpinionTests",
            dependencies: [
                "AppStoreAPI", "AppStoreConnector", "GooglePlayAPI", "GooglePlayConnector",
                "SecondOpinion", "Storage", "Stores", "StrictJSON", "StripeAPI", "StripeConnector",
                "TollgateAssembly", "TollgateService", "TollgateSimulation", .api,
                .appStoreSimulator, .core, .sandboxClock,
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .testTarget(
            name: "SimulationTests",
            dependencies: ["TollgateSimulation"]
        ),
        .testTarget(
            name: "StorageTests",
            dependencies: [
                "Storage", "StoragePostgres", "StorageSQLite", "TollgateSimulation",
                "TollgateTesting",
            ]
        ),
        .testTarget(
            name: "StripeAPITests",
            dependencies: [
                "StrictJSON", "StripeAPI",
                .product(name: "Crypto", package: "swift-crypto"),
            ]
        ),
        // A driver that fails at a chosen step.
        .target(
            name: "TollgateTesting",
            dependencies: ["Storage"],
            path: "Tests/TollgateTesting"
        ),
        // A file system for SQLite that forgets what was not flushed.
        .target(
            name: "CPowerCut",
            path: "Tests/CPowerCut",
            linkerSettings: [.linkedLibrary("sqlite3")]
        ),
        .testTarget(
            name: "RecordTests",
            dependencies: [
                "CPowerCut", "Storage", "StorageSQLite", "TollgateSimulation", "TollgateTesting",
                .core,
            ]
        ),
        .testTarget(
            name: "IntakeTests",
            dependencies: [
                "AppStoreAPI", "AppStoreConnector", "Stores", "StrictJSON", "StripeAPI",
                "StripeConnector", .core, .sdk,
            ]
        ),
        .testTarget(
            name: "TollgateServerTests",
            dependencies: [
                "AppStoreAPI", "AppStoreConnector", "GooglePlayAPI", "GooglePlayConnector",
                "Reports", "Storage", "Stores", "StrictJSON", "StripeAPI", "StripeConnector",
                "TollgateAssembly", "TollgateServer", "TollgateService", "TollgateSimulation",
                .acceptedConnections,
                .api, .appStoreSimulator, .core, .googlePlaySimulator, .sandboxClock, .sdk,
                .stripeSimulator,
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdTesting", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]
        ),
        .testTarget(
            name: "TollgateServiceTests",
            dependencies: [
                "AppStoreConnector", "GooglePlayConnector", "Storage", "Stores", "StripeConnector",
                "TollgateAssembly", "TollgateService", "TollgateSimulation", .api, .core,
                .product(name: "Crypto", package: "swift-crypto"),
            ]
        ),
        // MARK: - Tests of the packages below, compiled with the server's: links to their folders
        .testTarget(
            name: "MarkupTests",
            dependencies: [.markup, .product(name: "Mustache", package: "swift-mustache")]
        ),
        .testTarget(
            name: "AppStoreSimulatorTests",
            dependencies: [
                .acceptedConnections, .appStoreSimulator, .sandboxClock,
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ]
        ),
        .testTarget(
            name: "GooglePlaySimulatorTests",
            dependencies: [.googlePlaySimulator, .sandboxClock]
        ),
        .testTarget(
            name: "StripeSimulatorTests",
            dependencies: [
                .acceptedConnections, .sandboxClock, .stripeSimulator,
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ]
        ),
    ]
)

extension Target.Dependency {
    static let core = product(name: "TollgateCore", package: "BillingSDK")
    static let api = product(name: "TollgateAPI", package: "BillingSDK")
    static let sdk = product(name: "BillingSDK", package: "BillingSDK")

    static let appStoreSimulator = product(name: "AppStoreSimulator", package: "Sandbox")
    static let googlePlaySimulator = product(name: "GooglePlaySimulator", package: "Sandbox")
    static let sandboxClock = product(name: "SandboxClock", package: "Sandbox")
    static let sandboxCommands = product(name: "SandboxCommands", package: "Sandbox")
    static let scenarioWriting = product(name: "ScenarioWriting", package: "Sandbox")
    static let stripeSimulator = product(name: "StripeSimulator", package: "Sandbox")

    static let acceptedConnections = product(name: "AcceptedConnections", package: "Shared")
    static let commandOutput = product(name: "CommandOutput", package: "Shared")
    static let markup = product(name: "Markup", package: "Shared")
}

// `make test ONLY=NAME` builds no other tests; several names are separated by commas.
if let only = Context.environment["TOLLGATE_TEST_TARGET"]?.split(separator: ",").map(String.init) {
    package.targets.removeAll { $0.type == .test && !only.contains($0.name) }
}

// `make package` says from which commit it builds, for `tollgate --version`. Any other build names none:
// it would compile and link again after each commit.
if let commit = Context.environment["TOLLGATE_COMMIT"] {
    for target in package.targets where target.name == "CBuildInfo" {
        target.cSettings = [.define("TOLLGATE_COMMIT", to: commit)]
    }
}

// Debug builds optimise these targets: ScenarioTests then take 18 s of a processor instead of 43.
let hot: Set = ["Storage", "StorageSQLite", "StoragePostgres", "StrictJSON", "TextFormats"]

// Linking with lld takes 3 seconds instead of 13; warnings are errors everywhere.
for target in package.targets where target.type != .system {
    target.swiftSettings = [
        .treatAllWarnings(as: .error),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]
    if target.type == .executable || target.type == .test {
        target.linkerSettings = [.unsafeFlags(["-use-ld=lld"], .when(platforms: [.linux]))]
    }
    if hot.contains(target.name) {
        let flags = ["-O", "-assert-config", "Debug"]
        target.swiftSettings?.append(.unsafeFlags(flags, .when(configuration: .debug)))
    }
}
