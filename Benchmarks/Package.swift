// swift-tools-version: 6.3
import PackageDescription

// Micro-benchmarks of the modules, in a package of their own, so that the tools that measure are
// never linked into the service. See README.md here.
let package = Package(
    name: "porchlight-benchmarks",
    platforms: [.macOS(.v14)],
    dependencies: [
        .package(name: "porchlight", path: ".."),
        .package(url: "https://github.com/ordo-one/benchmark", exact: "1.38.1", traits: []),
    ],
    targets: [
        // What is measured, in either way.
        .target(
            name: "Operations",
            dependencies: [
                .product(name: "Containers", package: "porchlight"),
                .product(name: "Outboxes", package: "porchlight"),
                .product(name: "PresenceCore", package: "porchlight"),
                .product(name: "PresenceWire", package: "porchlight"),
                .product(name: "TLSSessions", package: "porchlight"),
            ],
            path: "Benchmarks/Operations"),
        // Time: swift package --package-path Benchmarks benchmark
        .executableTarget(
            name: "Timings",
            dependencies: [
                "Operations",
                .product(name: "Benchmark", package: "benchmark"),
                .product(name: "PresenceStore", package: "porchlight"),
            ],
            path: "Benchmarks/Timings",
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]),
        // What the processor executes: Benchmarks/instructions
        .executableTarget(
            name: "Instructions", dependencies: ["Operations"], path: "Benchmarks/Instructions"),
        // What an idle TLS connection takes: swift run -c release TLSMemory
        .executableTarget(
            name: "TLSMemory", dependencies: ["Operations"], path: "Benchmarks/TLSMemory"),
        // How costs grow with what the service holds: Benchmarks/growth
        .executableTarget(
            name: "Growth",
            dependencies: [
                .product(name: "Containers", package: "porchlight"),
                .product(name: "PresenceCore", package: "porchlight"),
                .product(name: "PresenceWire", package: "porchlight"),
            ],
            path: "Benchmarks/Growth"),
    ],
    cxxLanguageStandard: .cxx17
)
