import Stores
import Testing
import TollgateAPI
import TollgateService

/// R1: outgoing URLs reach no private address, in whatever spelling.
@Suite("R1: where webhooks may go")
struct WebhookAddressTests {
    static let forbidden = [
        // Addresses of this machine, of neighbours, of the cloud's own services.
        "https://127.0.0.1/", "https://127.0.0.1:443/", "https://127.255.255.254/x",
        "https://0.0.0.0/", "https://10.0.0.1/", "https://172.16.0.1/", "https://172.31.255.255/",
        "https://192.168.1.1/", "https://100.64.0.1/", "https://100.127.255.255/",
        "https://169.254.169.254/latest/meta-data/", "https://192.0.0.8/", "https://192.0.2.1/",
        "https://198.18.0.1/", "https://198.51.100.7/", "https://203.0.113.9/",
        "https://224.0.0.1/", "https://255.255.255.255/", "https://240.0.0.1/",
        // The same in other spellings.
        "https://2130706433/", "https://0x7f000001/", "https://0177.0.0.1/", "https://127.1/",
        "https://127.0.1/", "https://0x7f.1/", "https://0x7f.0.0.1/", "https://017700000001/",
        "https://127.0.0.1./", "https://00127.0.0.1/", "https://127.0.0.256/",
        "https://1.2.3.4.5/", "https://0xA9FEA9FE/", "https://3232235777/",
        // Version 6.
        "https://[::1]/", "https://[::]/", "https://[::ffff:127.0.0.1]/",
        "https://[::ffff:7f00:1]/", "https://[64:ff9b::7f00:1]/", "https://[64:ff9b::127.0.0.1]/",
        "https://[fd00:ec2::254]/", "https://[fe80::1]/", "https://[fe80::1%25eth0]/",
        "https://[fc00::1]/", "https://[ff02::1]/", "https://[2002:7f00:1::]/",
        "https://[2001:db8::1]/", "https://[2001:0:53aa::1]/", "https://[::127.0.0.1]/",
        "https://[0:0:0:0:0:ffff:a00:1]/", "https://[100::1]/", "https://[::1/", "https://::1/",
        "https://[1:2:3:4:5:6:7:8:9]/", "https://[1::2::3]/", "https://[g::1]/",
        // Names that are nobody's.
        "https://localhost/", "https://LOCALHOST/", "https://a.localhost/", "https://backend/",
        "https://db.internal/", "https://printer.local/", "https://router.lan/",
        "https://localhost./", "https://example.com./", "https://metadata.google.internal/",
        // Users, ports, schemes, tricks of spelling.
        "https://user@example.com/", "https://user:pass@example.com/",
        "https://example.com@127.0.0.1/", "https://example.com:22/", "https://example.com:80/",
        "https://example.com:0/", "https://example.com:65536/", "https://example.com:/x",
        "https://example.com:44 3/", "http://example.com/", "ftp://example.com/",
        "file:///etc/passwd", "gopher://example.com/", "javascript:alert(1)", "//example.com/",
        "https:example.com", "https:///example.com", "https://", "", "https://?x", "https://#x",
        "https://example.com#@127.0.0.1/", "https://exa%6dple.com/", "https://127.0.0.1%2f@x.com/",
        "https://example\u{3002}com/", "https://127\u{FF0E}0\u{FF0E}0\u{FF0E}1/",
        "https://ex\u{00E4}mple.com/", "https://example.com\\@127.0.0.1/",
        "https://example.com/\r\nHost: x", "https://exam ple.com/", "https://-a.example.com/",
        "https://a..b.com/", "https://.example.com/", "https://under_score.com/",
    ]

    @Test(
        "A URL that leads, or may lead, anywhere but to the internet is refused",
        arguments: forbidden
    )
    func refused(_ url: String) {
        let refusal = #expect(throws: Refusal.self) {
            _ = try WebhookAddress(url, allowsPrivate: false)
        }
        #expect(refusal?.status == 422)
        #expect(refusal?.error.code.rawValue == "url_forbidden")
        #expect(refusal?.error.param == "url")
    }

    @Test("The list is as long as the attack asks for")
    func length() {
        #expect(Self.forbidden.count >= 70)
        #expect(Set(Self.forbidden).count == Self.forbidden.count)
    }

    @Test(
        "A URL on the internet is taken as it is",
        arguments: [
            ("https://example.com/hooks?x=1", "example.com", 443),
            ("https://EXAMPLE.com", "example.com", 443),
            ("https://xn--exmple-cua.com:8443/", "xn--exmple-cua.com", 8443),
            ("https://1.1.1.1/", "1.1.1.1", 443),
            ("HTTPS://a.b-c.example.org:443/", "a.b-c.example.org", 443),
            ("https://[2606:4700::1111]/", "2606:4700:0:0:0:0:0:1111", 443),
        ]
    )
    func taken(_ url: String, host: String, port: Int) throws {
        let address = try WebhookAddress(url, allowsPrivate: false)
        // As it was given, but for the host, which is spelled as it was judged.
        #expect(address.url.lowercased() == url.lowercased() || address.address != nil)
        #expect(address.url.contains(address.address?.bytes.count == 16 ? "[\(host)]" : host))
        #expect(address.host == host)
        #expect(address.port == port)
    }

    @Test("A sandbox on one machine may be allowed its own addresses, and still no tricks")
    func allowed() throws {
        let address = try WebhookAddress("http://127.0.0.1:9000/hook", allowsPrivate: true)
        #expect(address.port == 9000 && address.address?.isPublic == false)
        _ = try WebhookAddress("http://localhost:9000/hook", allowsPrivate: true)
        for url in ["http://0177.0.0.1/", "http://a@127.0.0.1/", "file:///etc/passwd"] {
            #expect(throws: Refusal.self) { _ = try WebhookAddress(url, allowsPrivate: true) }
        }
    }

    @Test("A name with one private address among public ones leads nowhere")
    func mixedAnswers() throws {
        let open = try #require(IPAddress("1.1.1.1"))
        let closed = try #require(IPAddress("10.0.0.1"))
        #expect(try WebhookAddress.peer(among: [open], allowsPrivate: false) == open)
        #expect(throws: WebhookRefused.self) {
            try WebhookAddress.peer(among: [open, closed], allowsPrivate: false)
        }
        #expect(throws: WebhookRefused.self) {
            try WebhookAddress.peer(among: [], allowsPrivate: true)
        }
        #expect(try WebhookAddress.peer(among: [closed], allowsPrivate: true) == closed)
    }
}
