// swift-tools-version: 6.2
// A package of its own, so that who builds the server does not build this. It also builds the server
// (`--product tollgate`), and both share one scratch directory: the dependencies compile once.
import PackageDescription

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Server", path: ".."),
        .package(name: "BillingSDK", path: "../.."),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    ],
    targets: [
        .executableTarget(
            name: "SignatureBenchmark",
            dependencies: [
                .product(name: "AppStoreAPI", package: "Server"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "StripeAPI", package: "Server"),
            ]
        ),
        .executableTarget(
            name: "FillDatabase",
            dependencies: [
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Storage", package: "Server"),
                .product(name: "StoragePostgres", package: "Server"),
                .product(name: "StorageSQLite", package: "Server"),
                .product(name: "Stores", package: "Server"),
                .product(name: "TollgateAPI", package: "BillingSDK"),
                .product(name: "TollgateCore", package: "BillingSDK"),
                .product(name: "TollgateService", package: "Server"),
            ]
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
    target.linkerSettings = [.unsafeFlags(["-use-ld=lld"], .when(platforms: [.linux]))]
}
