// Rules for the addresses that the service listens on, and for TLS there.

import CommandSupport

extension SettingRule {
    /// A setting that is an address to listen on.
    private struct Listener {
        let name: String
        let address: @Sendable (ServiceSettings) -> String?
    }

    private static let listeners = [
        Listener(name: "listen") { $0.listen },
        Listener(name: "listen-tls") { $0.tls.listen },
        Listener(name: "http") { $0.http },
        Listener(name: "http-tls") { $0.tls.http },
        Listener(name: "xmpp-listen") { $0.tls.xmpp },
        Listener(name: "xmpp-tls-listen") { $0.tls.xmppOverTLS },
    ]

    /// Any two of them are different. Port 0 is any that is free.
    static let ofAddresses = listeners.enumerated().flatMap { place, first in
        listeners[(place + 1)...].map { second in
            Self(
                names: [first.name, second.name],
                holds: { settings in
                    guard let one = first.address(settings).flatMap(parseAddress),
                        let other = second.address(settings).flatMap(parseAddress)
                    else { return true }
                    return one != other || one.port == 0
                },
                remedy: "Only one can listen on an address: give each a port of its own",
                shown: .all)
        }
    }

    /// The addresses to listen on, as they were set.
    fileprivate static func addresses(of settings: ServiceSettings) -> [String] {
        listeners.compactMap { $0.address(settings) }
    }

    static let ofTLS = [
        Self(
            names: ["tls-certificate", "tls-key"],
            holds: { ($0.tls.certificatePaths == nil) == ($0.tls.keyPaths == nil) },
            remedy: "A certificate is of no use without its key, nor a key without its "
                + "certificate: set both"),
        Self(
            names: ["listen-tls", "http-tls", "xmpp-tls-listen", "tls-certificate"],
            holds: {
                !$0.tls.hasCertificates || $0.tls.certificatePaths != nil || $0.tls.keyPaths != nil
            },
            remedy: "TLS needs a certificate and its key: set tls-certificate and tls-key"),
        Self(
            names: [
                "tls-certificate", "listen-tls", "http-tls", "xmpp-listen", "xmpp-tls-listen",
            ],
            holds: { $0.tls.hasCertificates || $0.tls.certificatePaths == nil },
            remedy: "Nothing is served over TLS: set listen-tls, http-tls, xmpp-listen or "
                + "xmpp-tls-listen, or omit tls-certificate and tls-key"),
    ]
}

extension ServiceSettings {
    /// The addresses of all listeners, as they were set.
    var listenerAddresses: [String] { SettingRule.addresses(of: self) }
}
