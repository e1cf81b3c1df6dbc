import PresenceCore
import Testing
import XML

@testable import PresenceXMPP

let alice = StanzaSender(
    account: bytes("alice"), device: bytes("phone"), domain: bytes("example.org"),
    language: bytes("en"))

/// Decodes one stanza of Alice.
func decode(
    _ text: String, _ limits: Limits = Limits(), from sender: StanzaSender = alice
) throws -> DecodedStanza {
    let reader = XMLReader(hashSalt: 1)
    let stanza = bytes(text)
    let decoder = StanzaDecoder(
        domains: [bytes("example.org"), bytes("192.0.2.1")], limits: limits)
    let element = try reader.readStanza(stanza.span.bytes, in: .standard)
    let kind = try #require(
        Stanza.Kind.allCases.first { element.isNamed($0.name, in: "jabber:client") })
    return decoder.decode(Stanza(kind: kind, element: element), from: sender)
}

/// The request of a stanza; nil if it is none.
func request(_ text: String) throws -> XMPPRequest? {
    guard case .request(let request, _) = try decode(text) else { return nil }
    return request
}

/// The error of a stanza, without its text; nil if it is a request.
func rejection(_ text: String) throws -> StanzaError? {
    guard case .rejected(var error, _) = try decode(text) else { return nil }
    error.text = ""
    return error
}

/// What is appended, as text. It must be one element that can be read.
func written(_ append: (inout [UInt8]) -> Void) throws -> String {
    var all: [UInt8] = []
    append(&all)
    let reader = XMLReader(hashSalt: 1)
    _ = try reader.readStanza(all.span.bytes, in: .standard)
    return String(decoding: all, as: UTF8.self)
}
