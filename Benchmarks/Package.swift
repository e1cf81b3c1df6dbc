// swift-tools-version: 6.2
import PackageDescription

// Micro-benchmarks of the rooms, in a package of their own, so that what measures never gets
// into the service. Run: swift package --package-path Benchmarks benchmark
let package = Package(
    name: "porchlight-benchmarks",
    platforms: [.macOS(.v14)],
    dependencies: [
        .package(name: "porchlight", path: ".."),
        .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.0", traits: []),
    ],
    targets: [
        .executableTarget(
            name: "Rooms",
            dependencies: [
                .product(name: "Benchmark", package: "benchmark"),
                .product(name: "Containers", package: "porchlight"),
                .product(name: "PresenceCore", package: "porchlight"),
                .product(name: "PresenceWire", package: "porchlight"),
            ],
            path: "Benchmarks/Rooms",
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")])
    ],
    cxxLanguageStandard: .cxx17
)
