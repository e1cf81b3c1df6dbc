import PresenceServer

// XMPP clients.

extension SettingTable {
    static let xmpp = SettingGroup(
        title: "XMPP",
        settings: [
            .text(
                "xmpp-listen", \Startup.tls.xmpp, .address, unset: "none",
                "The address that XMPP clients connect to, with a port, usually 5222; TLS begins "
                    + "by STARTTLS."),
            .text(
                "xmpp-tls-listen", \Startup.tls.xmppOverTLS, .address, unset: "none",
                "The address that XMPP clients connect to over TLS, with a port, usually 5223."),
            .text(
                "xmpp-domain", \Startup.xmpp.domainList, .text, unset: "none",
                "The domain of the JIDs of accounts; several with commas between them, the first "
                    + "for clients that name none. IP addresses are allowed."),
            .onOff(
                "xmpp-plaintext", \Startup.xmpp.allowsPlaintext,
                "Allow XMPP clients to authenticate without TLS."),
            .onOff(
                "xmpp-registration", \Startup.xmpp.allowsRegistration,
                "Allow any client to register an account with a password (XEP-0077)."),
            .count(
                "xmpp-login-timeout", \Live.connection.xmppLoginSeconds, 1...300, .seconds,
                "Time within which an XMPP client must log in. Its user may be asked meanwhile "
                    + "about a certificate, or for a name to register."),
            .count(
                "xmpp-stanza-bytes", \Startup.xmpp.stanzaBytesMax, 10_000...1_048_576, .bytes,
                "Bytes of a stanza after login; above, the stream is closed."),
            .count(
                "vcard-bytes-in-all-max", \Live.admission.cardBytesInAllMax,
                0...1_099_511_627_776, .bytes,
                "Bytes of the vCards of all accounts, each counting for at least 512; above, none "
                    + "can be set."),
        ])
}

/// The settings of XMPP, besides its addresses.
struct XMPPChoices: Sendable {
    /// The domains, with commas between them.
    var domainList: String?
    var allowsPlaintext = false
    var allowsRegistration = false
    var stanzaBytesMax = 262_144

    /// The domains in small letters.
    var domains: [[UInt8]] {
        domainNames.map { Array($0.utf8) }
    }

    /// Those for which clients expect a certificate that has the name: no IP addresses, and none
    /// beyond ASCII, which certificates have in another form.
    var domainsOfCertificates: [String] {
        domainNames.filter { name in
            name.utf8.allSatisfy { $0 < 0x80 && $0 != UInt8(ascii: ":") }
                && name.contains { $0.isLetter }
        }
    }

    private var domainNames: [String] {
        (domainList ?? "").lowercased().split(separator: ",").map { name in
            String(name.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
    }
}

extension StartupSettings {
    /// Whether XMPP clients are served.
    var servesXMPP: Bool { tls.xmpp != nil || tls.xmppOverTLS != nil }

    /// Where XMPP clients connect; without certificates.
    var xmppListening: XMPPListening? {
        guard servesXMPP else { return nil }
        func place(_ text: String?) -> XMPPListening.Place? {
            text.map {
                let address = ServiceSettings.numericAddress($0)
                return XMPPListening.Place(host: address.host, port: address.port)
            }
        }
        var listening = XMPPListening(domains: xmpp.domains)
        listening.plain = place(tls.xmpp)
        listening.encrypted = place(tls.xmppOverTLS)
        listening.allowsPlaintext = xmpp.allowsPlaintext
        listening.allowsRegistration = xmpp.allowsRegistration
        listening.stanzaBytesMax = xmpp.stanzaBytesMax
        return listening
    }
}

extension SettingRule {
    static let ofXMPP = [
        Self(
            names: ["xmpp-listen", "xmpp-tls-listen", "xmpp-domain"],
            holds: { !$0.servesXMPP || !$0.xmpp.domains.isEmpty },
            remedy: "XMPP needs the domain of its JIDs: set xmpp-domain"),
        Self(
            names: ["xmpp-registration", "auth"],
            holds: { !$0.xmpp.allowsRegistration || $0.auth == .password },
            remedy: "Who registers gets an account with a password, which needs --auth password"),
        Self(
            names: ["xmpp-domain"],
            holds: { $0.xmpp.domains.allSatisfy(XMPPListening.isDomain) },
            remedy: "A domain is a name such as example.com, or an IP address, without a port; "
                + "parts of a name have 1 to 63 characters and no hyphen at either end, the whole "
                + "has 253 at most, and several domains have commas between them"),
        Self(
            names: ["xmpp-listen", "xmpp-plaintext", "tls-certificate"],
            holds: {
                $0.tls.xmpp == nil || $0.xmpp.allowsPlaintext || $0.tls.certificatePaths != nil
            },
            remedy: "XMPP clients begin TLS by STARTTLS, which needs tls-certificate and tls-key; "
                + "for tests on this machine, listen on 127.0.0.1 and set xmpp-plaintext"),
        Self(
            names: ["xmpp-listen", "xmpp-plaintext", "i-know-this-is-plain"],
            holds: {
                !$0.xmpp.allowsPlaintext || $0.isKnownToBePlain
                    || $0.tls.xmpp.map(ServiceSettings.isLoopback) ?? true
            },
            remedy: "Without TLS, passwords and tokens can be read and used by others on the way: "
                + "listen on 127.0.0.1, or, if the network is yours, add --i-know-this-is-plain"),
    ]
}
