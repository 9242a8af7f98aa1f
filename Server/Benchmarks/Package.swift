// swift-tools-version: 6.2
// A package of its own, so that who builds the server does not build this. It also builds the server
// (`--product tollgate`), and both share one scratch directory: the dependencies compile once.
import PackageDescription

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v14)],
    dependencies: [
        .package(name: "Server", path: ".."),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    ],
    targets: [
        .executableTarget(
            name: "SignatureBenchmark",
            dependencies: [
                .product(name: "AppStoreAPI", package: "Server"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "StripeAPI", package: "Server"),
            ],
            swiftSettings: [
                .treatAllWarnings(as: .error),
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
            ],
            linkerSettings: [.unsafeFlags(["-use-ld=lld"], .when(platforms: [.linux]))]
        )
    ]
)
