import HTTPValues
import Testing

@testable import PresenceWebhooks

@Suite struct `An endpoint` {
    let secret = Array("a secret of some length".utf8)

    @Test(arguments: [
        "http://a", "https://app.example/presence?x=y", "HTTP://127.0.0.1:8080/",
        "http://[::1]:1/", "https://[::1]", "https://app.example:65535",
    ])
    func `is posted to over HTTP`(url: String) throws {
        #expect(try WebhookEndpoint(name: "crm", url: url, secret: secret).url.text == url)
    }

    @Test(arguments: [
        "", "ftp://a", "app.example", "http://", "http:///x", "https://:80", "http://a b",
        "http://a#b", "http://user:word@a", "http://a:0", "http://a:65536", "http://a:x",
        "http://[::1", "http://[]", "http://[::1]x", "http://a/?x[]=1", "http://a/caf%E9",
        "http://a/%", "http://a/%4", "http://a/?%zz", "http://a\\b", "http://a/\"", "http://a/%00",
        "http://a?", "http://a/b?", "http://%61/", "http://é",
        "http://a/" + String(repeating: "x", count: 2_048),
    ])
    func `rejects an invalid URL`(url: String) {
        #expect {
            try WebhookEndpoint(name: "crm", url: url, secret: secret)
        } throws: { error in
            let words = "\(error)"
            return words.hasPrefix("The URL of webhook crm is invalid: ")
                && (url.count < 8 || !words.contains(url))
        }
    }

    @Test(arguments: ["", "A", "a/b", "..", "ä", String(repeating: "x", count: 33)])
    func `has a name that can be a file name`(name: String) {
        #expect(throws: WebhookEndpointError.name(name)) {
            try WebhookEndpoint(name: name, url: "http://a", secret: secret)
        }
    }

    @Test(arguments: [0, 15, 513])
    func `has a secret that cannot be guessed`(count: Int) {
        let short = [UInt8](repeating: 1, count: count)
        #expect(throws: WebhookEndpointError.secret("a", byteCount: count)) {
            try WebhookEndpoint(name: "a", url: "http://a", secret: short)
        }
    }

    @Test func `signs like other programs`() {
        // printf '1763700001.{"id":"1"}' | openssl dgst -sha256 -hmac 'a secret of some length'
        let value = Signature.value(
            of: Array(#"{"id":"1"}"#.utf8), seconds: 1_763_700_001, secret: secret)
        let code = "96584bb1799eff305d7f5e7793df1f02af67e708f418a7a67c5fe052d9f218f0"
        #expect(value == "t=1763700001,v1=\(code)")
    }
}
