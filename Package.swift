// swift-tools-version: 6.3
import PackageDescription

// The same compiler settings for every module and its tests.
// https://github.com/swiftlang/swift-evolution/blob/main/proposals/0335-existential-any.md
// https://github.com/swiftlang/swift-evolution/blob/main/proposals/0409-access-level-on-imports.md
// https://github.com/swiftlang/swift-evolution/blob/main/proposals/0444-member-import-visibility.md
// https://github.com/swiftlang/swift-evolution/blob/main/proposals/0443-warning-control-flags.md
let common: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    // For us, whose builds are debug ones: a library that deprecates something in its next version
    // must not break the build of a clone that worked.
    .treatAllWarnings(as: .error, .when(configuration: .debug)),
]

// Optimised in debug builds, too, with `assert`: the tests then run what is close to a release
// build, and need no other. Most tests themselves are not optimised: a client that a test does not
// use again would be released, and its connection closed.
let optimised: [SwiftSetting] = [
    .unsafeFlags(["-O", "-assert-config", "Debug"], .when(configuration: .debug))
]

// Every unsafe expression of the service is marked `unsafe`. Input cannot corrupt the memory of a
// module without such marks.
// https://github.com/swiftlang/swift-evolution/blob/main/proposals/0458-strict-memory-safety.md
let strict: [SwiftSetting] = common + optimised + [.strictMemorySafety()]

// What the dynamic linker writes into is read-only once the program runs.
let bindNow: [LinkerSetting] = [.unsafeFlags(["-Xlinker", "-z", "-Xlinker", "now"])]

let package = Package(
    name: "porchlight",
    products: [
        .executable(name: "porchlight", targets: ["porchlight"]),
        .executable(name: "porchlight-bench", targets: ["porchlight-bench"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
        .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
        .package(url: "https://github.com/vapor/jwt-kit", exact: "5.7.1"),
    ],
    targets: [
        // C libraries, each with exactly one importer.
        // Without pkg-config, whose flags for libcurl SwiftPM warns of on Debian 13.
        .systemLibrary(name: "CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(
            name: "CExpat", pkgConfig: "expat", providers: [.apt(["libexpat1-dev"])]),
        .systemLibrary(
            name: "CLibUV", pkgConfig: "libuv", providers: [.apt(["libuv1-dev"])]),
        .systemLibrary(
            name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .target(
            name: "CSimdJSON",
            cxxSettings: [
                .unsafeFlags(["-Wall", "-Wextra"]),
                // As our own Swift: see `common` and `optimised`.
                .unsafeFlags(["-Werror", "-O2"], .when(configuration: .debug)),
            ],
            linkerSettings: [.linkedLibrary("simdjson")]),
        .target(
            name: "CSQLite",
            cSettings: [
                .unsafeFlags(["-Wall", "-Wextra"]),
                .unsafeFlags(["-Werror"], .when(configuration: .debug)),
            ],
            linkerSettings: [.linkedLibrary("sqlite3")]),
        // Files that are served unchanged.
        .target(
            name: "CEmbeddedFiles",
            cSettings: [
                .unsafeFlags(["-Wall", "-Wextra"]),
                .unsafeFlags(["-Werror"], .when(configuration: .debug)),
            ]),

        // The modules, from the bottom up. A module may import only those that it names here.
        .target(name: "Containers", swiftSettings: strict),
        .target(
            name: "PresenceCore", dependencies: ["Containers"], swiftSettings: strict),
        .target(name: "Outboxes", dependencies: ["Containers"], swiftSettings: strict),
        .target(name: "PrometheusText", dependencies: ["Containers"], swiftSettings: strict),
        .target(
            name: "EventLoop", dependencies: ["CLibUV", "Containers"], swiftSettings: strict),
        .target(
            name: "TLSSessions", dependencies: ["COpenSSL", "Containers"], swiftSettings: strict),
        .target(name: "XML", dependencies: ["CExpat"], swiftSettings: strict),
        .target(
            name: "SecureLoop", dependencies: ["Containers", "EventLoop", "TLSSessions"],
            swiftSettings: strict),
        .target(
            name: "Connections",
            dependencies: ["Containers", "EventLoop", "Outboxes", "PresenceCore"],
            swiftSettings: strict),
        .target(
            name: "PresenceWire",
            dependencies: ["CSimdJSON", "Containers", "HTTPValues", "PresenceCore"],
            swiftSettings: strict),
        .target(
            name: "Passwords",
            dependencies: [
                "Containers",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ],
            swiftSettings: strict),
        .target(
            name: "PresenceXMPP", dependencies: ["Containers", "Passwords", "PresenceCore", "XML"],
            swiftSettings: strict),
        .target(
            name: "PresenceStore",
            dependencies: [
                "CSQLite", "Containers", .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: strict),
        .target(
            name: "PresenceServer",
            dependencies: [
                "Connections", "Containers", "EventLoop", "Outboxes", "Passwords", "PresenceCore",
                "PresenceStore", "PresenceWire", "PresenceXMPP", "PrometheusText", "SecureLoop",
                "TLSSessions", "XML",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict),
        .target(
            name: "PresenceClient", dependencies: ["TLSSessions"], swiftSettings: strict),
        .target(
            name: "CommandSupport",
            dependencies: [
                "PresenceClient", "TLSSessions",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict),
        .target(
            name: "CBench",
            cSettings: [
                .unsafeFlags(["-Wall", "-Wextra", "-Werror"]),
                .unsafeFlags(["-O2"], .when(configuration: .debug)),
            ]),
        .target(
            name: "PresenceBench",
            dependencies: [
                "CBench", "Containers", "EventLoop", "PresenceWire", "TLSSessions",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "porchlight-bench",
            dependencies: [
                "CommandSupport", "EventLoop", "PresenceBench", "TLSSessions",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict, linkerSettings: bindNow),
        .target(
            name: "TaskLoops", dependencies: [.product(name: "NIOCore", package: "swift-nio")],
            swiftSettings: strict),
        .target(name: "HTTPValues", swiftSettings: strict),
        .target(
            name: "WebPush",
            dependencies: [
                "Containers", "HTTPValues", "PresenceCore", "PresenceWire",
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: strict),
        .target(
            name: "OutgoingHTTP",
            dependencies: [
                "CCurl", "Containers", "EventLoop", "HTTPValues", "TaskLoops",
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: strict),
        .target(
            name: "PresenceTokens",
            dependencies: [
                "Containers", "HTTPValues", "OutgoingHTTP", "PresenceCore", "PresenceWire",
                "TaskLoops",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "JWTKit", package: "jwt-kit"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: strict),
        .target(
            name: "PresenceGateway",
            dependencies: [
                "PresenceCore", "PresenceServer", "PresenceWire",
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: strict),
        .target(
            name: "PresenceHTTP",
            dependencies: [
                "CEmbeddedFiles", "Containers", "HTTPValues", "PresenceCore", "PresenceGateway",
                "PresenceServer", "PresenceTokens", "PresenceWire", "PrometheusText", "TLSSessions",
                "TaskLoops",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: strict),
        .target(
            name: "Deliveries",
            dependencies: [
                "HTTPValues", "OutgoingHTTP", "PresenceGateway", "PresenceWire",
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: strict),
        .target(
            name: "PresencePush",
            dependencies: [
                "Containers", "Deliveries", "HTTPValues", "OutgoingHTTP", "PresenceCore",
                "PresenceGateway", "PresenceServer", "PresenceWire", "PrometheusText", "TaskLoops",
                "WebPush",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: strict),
        .target(
            name: "PresenceWebhooks",
            dependencies: [
                "Containers", "Deliveries", "HTTPValues", "OutgoingHTTP", "PresenceCore",
                "PresenceGateway", "PresenceServer", "PresenceWire", "PrometheusText", "TaskLoops",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "porchlight",
            dependencies: [
                "CommandSupport", "Containers", "Deliveries", "EventLoop", "OutgoingHTTP",
                "Passwords", "PresenceClient", "PresenceGateway", "PresenceHTTP", "PresencePush",
                "PresenceServer", "PresenceTokens", "PresenceWebhooks", "PresenceWire",
                "PresenceXMPP", "PrometheusText", "TLSSessions", "TaskLoops", "WebPush",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Yams", package: "Yams"),
            ],
            swiftSettings: strict, linkerSettings: bindNow),

        // What several of the test targets below need.
        .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: common),
        .testTarget(name: "ContainersTests", dependencies: ["Containers"], swiftSettings: common),
        .testTarget(
            name: "OutboxesTests", dependencies: ["Containers", "Outboxes"],
            swiftSettings: common),
        .testTarget(
            name: "ConnectionsTests",
            dependencies: ["Connections", "Containers", "EventLoop", "Outboxes", "PresenceCore"],
            swiftSettings: common),
        .testTarget(
            name: "PrometheusTextTests", dependencies: ["Containers", "PrometheusText"],
            swiftSettings: common),
        .testTarget(
            name: "PresenceCoreTests", dependencies: ["Containers", "PresenceCore"],
            swiftSettings: common + optimised),
        .testTarget(
            name: "PresenceWireTests",
            dependencies: ["Containers", "PresenceCore", "PresenceWire"],
            swiftSettings: common),
        .testTarget(
            name: "PasswordsTests", dependencies: ["Containers", "Passwords"],
            swiftSettings: common),
        .testTarget(
            name: "PresenceXMPPTests",
            dependencies: ["Containers", "Passwords", "PresenceCore", "PresenceXMPP", "XML"],
            swiftSettings: common),
        .testTarget(
            name: "TLSSessionsTests",
            dependencies: ["COpenSSL", "Containers", "TLSSessions", "TestSupport"],
            swiftSettings: common),
        .testTarget(
            name: "XMLTests", dependencies: ["Containers", "XML"], swiftSettings: common),
        .testTarget(
            name: "SecureLoopTests",
            dependencies: [
                "COpenSSL", "Containers", "EventLoop", "SecureLoop", "TLSSessions", "TestSupport",
            ],
            swiftSettings: common),
        .testTarget(name: "HTTPValuesTests", dependencies: ["HTTPValues"], swiftSettings: common),
        .testTarget(
            name: "WebPushTests",
            dependencies: [
                "Containers", "HTTPValues", "PresenceCore", "PresenceWire", "WebPush",
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: common),
        .testTarget(
            name: "OutgoingHTTPTests",
            dependencies: [
                "Containers", "HTTPValues", "OutgoingHTTP", "TLSSessions", "TaskLoops",
                "TestSupport",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: common),
        .testTarget(name: "EventLoopTests", dependencies: ["EventLoop"], swiftSettings: common),
        .testTarget(
            name: "PresenceStoreTests",
            dependencies: [
                "Containers", "PresenceStore", .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: common),
        .testTarget(
            name: "PresenceGatewayTests",
            dependencies: [
                "PresenceGateway", "PresenceServer", "PresenceWire",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: common),
        .testTarget(
            name: "PresenceHTTPTests",
            dependencies: [
                "Containers", "PresenceCore", "PresenceGateway", "PresenceHTTP", "PresenceServer",
                "PresenceTokens", "PresenceWire", "TaskLoops", "TestSupport",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: common),
        .testTarget(
            name: "PresenceBenchTests",
            dependencies: [
                "EventLoop", "PresenceBench", "PresenceWire", "porchlight", "porchlight-bench",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: common),
        .testTarget(
            name: "PresenceTokensTests",
            dependencies: [
                "Containers", "OutgoingHTTP", "PresenceCore", "PresenceTokens", "TaskLoops",
                "TestSupport",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: common),
        .testTarget(
            name: "CommandTests",
            dependencies: [
                "CommandSupport", "PresenceClient", "PresenceCore", "PresenceServer",
                "PresenceWebhooks", "TLSSessions", "TestSupport", "porchlight", "porchlight-bench",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: common),
        .testTarget(name: "SourceRulesTests", swiftSettings: common),
        // For the test suites of WebSocket, which need a server that answers with the same message.
        .executableTarget(
            name: "EchoServer",
            dependencies: ["EventLoop", "PresenceWire", "SecureLoop", "TLSSessions"],
            path: "Tests/WebSocket/EchoServer", swiftSettings: common),
        .testTarget(
            name: "DeliveriesTests",
            dependencies: [
                "Containers", "Deliveries", "HTTPValues", "OutgoingHTTP", "TaskLoops",
                "TestSupport",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: common),
        .testTarget(
            name: "PresencePushTests",
            dependencies: [
                "Containers", "Deliveries", "HTTPValues", "OutgoingHTTP", "PresenceCore",
                "PresencePush", "PresenceWire", "TaskLoops", "WebPush",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: common),
        .testTarget(
            name: "PresenceWebhooksTests",
            dependencies: [
                "Containers", "Deliveries", "PresenceCore", "PresenceWebhooks", "PresenceWire",
                "TaskLoops", "TestSupport",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: common),
        .testTarget(
            name: "PresenceClientTests", dependencies: ["PresenceClient"],
            swiftSettings: common),
        .testTarget(
            name: "SimulatorTests",
            dependencies: [
                "Connections", "Containers", "EventLoop", "Outboxes", "Passwords", "PresenceClient",
                "PresenceCore", "PresenceServer", "PresenceStore", "PresenceWire", "XML",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: common + optimised),
        // Compiled with libFuzzer and AddressSanitizer by scripts/fuzz, too.
        .testTarget(
            name: "FuzzTests",
            dependencies: [
                "CExpat", "Containers", "Passwords", "PresenceCore", "PresenceWire",
                "PresenceXMPP", "TLSSessions", "XML",
            ],
            path: "Fuzz", exclude: ["README.md", "corpus"],
            swiftSettings: common + optimised),
        .testTarget(
            name: "PresenceServerTests",
            dependencies: [
                "Connections", "Containers", "EventLoop", "PresenceClient", "PresenceCore",
                "PresenceServer", "PresenceStore", "PresenceWire", "PresenceXMPP",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: common),

        // What measures the modules: Benchmarks/README.md.
        .target(
            name: "Operations",
            dependencies: [
                "Containers", "Outboxes", "PresenceCore", "PresenceWire", "TLSSessions",
            ],
            path: "Benchmarks/Sources/Operations", swiftSettings: common + optimised),
        .executableTarget(
            name: "Instructions", dependencies: ["Operations"],
            path: "Benchmarks/Sources/Instructions", swiftSettings: common),
        .executableTarget(
            name: "TLSMemory", dependencies: ["Operations"],
            path: "Benchmarks/Sources/TLSMemory", swiftSettings: common),
        .executableTarget(
            name: "Growth", dependencies: ["Containers", "PresenceCore", "PresenceWire"],
            path: "Benchmarks/Sources/Growth", swiftSettings: common + optimised),
    ],
    cxxLanguageStandard: .cxx17
)
