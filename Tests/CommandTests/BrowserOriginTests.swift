import Testing

@testable import porchlight

@Suite struct `The origin of a setting` {
    /// As `new URL(TEXT).origin` says in a browser.
    @Test(arguments: [
        ("https://app.example.com", "https://app.example.com"),
        ("https://app.example.com:443", "https://app.example.com"),
        ("HTTPS://App.Example.COM:0443", "https://app.example.com"),
        ("http://localhost:80", "http://localhost"),
        ("http://localhost:443", "http://localhost:443"),
        ("https://a.example:80", "https://a.example:80"),
        ("http://127.0.0.1:5173", "http://127.0.0.1:5173"),
        ("http://[0:0:0:0:0:0:0:1]:80", "http://[::1]"),
        ("http://[2001:DB8:0:0:1:0:0:0]", "http://[2001:db8:0:0:1::]"),
        ("http://[::ffff:1.2.3.4]", "http://[::ffff:102:304]"),
        ("http://[1:0:2:3:4:5:6:7]", "http://[1:0:2:3:4:5:6:7]"),
        ("capacitor://localhost", "capacitor://localhost"),
        ("tauri://localhost:443", "tauri://localhost:443"),
        ("https://app.example.com.", "https://app.example.com."),
        ("https://my_app.example.com", "https://my_app.example.com"),
        ("https://xn--mnchen-3ya.example", "https://xn--mnchen-3ya.example"),
    ])
    func `is what a browser sends`(written: String, sent: String) {
        #expect(BrowserOrigin(written.utf8)?.bytes == Array(sent.utf8))
        #expect(BrowserOrigin(sent.utf8)?.bytes == Array(sent.utf8))
    }

    @Test(arguments: [
        "", "null", "*", "https://*.example.com", "app.example.com", "//a", "https://",
        "https://a/", "https://a/x", "https://a?x", "https://a:", "https://a:65536",
        "https://a:+1", "https://u@a", "https://münchen.example", "https://a.\u{212A}",
        "http://127.1", "http://1.2.3.256", "http://1.2.3.4.5", "http://01.2.3.4", "http://0x7f.1",
        "http://[::1", "http://[::g]", "http://[1:2]", "https://a:４43", "https://..",
        "ws://app.example.com", "wss://app.example.com", "https://a..com", "https://.a.com",
        "https://a.com..", "http://1.2.3.4.", "https://\(String(repeating: "a", count: 64)).com",
        "https://\(String(repeating: "a.", count: 130))com",
    ])
    func `is rejected if none sends it`(written: String) {
        #expect(BrowserOrigin(written.utf8) == nil)
    }
}
