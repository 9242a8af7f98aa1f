// SPDX-License-Identifier: Apache-2.0
internal import CCurl
internal import Dispatch
internal import Foundation
public import TollgateCore

/// The TLS certificate that a server shows, whether or not anybody trusts it.
public struct PeerCertificate: Hashable, Sendable {
    /// The end of its time.
    public var end: Instant
    /// True if it is for the host that was asked for.
    public var isForHost: Bool

    private static let queue = DispatchQueue(label: "tollgate.certificates")

    /// Asks the server at an address, without a request; libcurl makes the connection.
    ///
    /// - Parameter url: `https://…`
    /// - Returns: `nil` if nobody answers there by TLS within ten seconds.
    public static func shown(at url: String) async -> PeerCertificate? {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: ask(url)) }
        }
    }

    private static func ask(_ url: String) -> PeerCertificate? {
        guard LibCurl.isReady, let curl = curl_easy_init() else { return nil }
        defer { curl_easy_cleanup(curl) }
        _ = tollgate_curl_set_text(curl, CURLOPT_URL, url)
        _ = tollgate_curl_set_text(curl, CURLOPT_PROXY, "")
        for (option, value) in [
            (CURLOPT_NOSIGNAL, 1), (CURLOPT_CONNECT_ONLY, 1), (CURLOPT_CERTINFO, 1),
            (CURLOPT_TIMEOUT_MS, 10_000), (CURLOPT_QUICK_EXIT, 1),
            // Name and time are looked at here; trust is the matter of the request for /healthz.
            (CURLOPT_SSL_VERIFYPEER, 0), (CURLOPT_SSL_VERIFYHOST, 2),
        ] {
            _ = tollgate_curl_set_long(curl, option, value)
        }
        let code = curl_easy_perform(curl)
        guard code == CURLE_OK || code == CURLE_PEER_FAILED_VERIFICATION,
            let end = end(of: tollgate_curl_certificates(curl))
        else { return nil }
        return PeerCertificate(end: end, isForHost: code == CURLE_OK)
    }

    /// The end of the server's own certificate, which is the first.
    private static func end(
        of certificates: UnsafeMutablePointer<curl_certinfo>?
    ) -> Instant? {
        guard let certificates, certificates.pointee.num_of_certs > 0 else { return nil }
        var next = certificates.pointee.certinfo[0]
        while let entry = next {
            let text = entry.pointee.data.map { String(cString: $0) } ?? ""
            if text.hasPrefix("Expire date:") {
                return instant(text.dropFirst("Expire date:".count))
            }
            next = entry.pointee.next
        }
        return nil
    }

    /// `Dec  8 20:52:53 2026 GMT`, as OpenSSL writes it.
    static func instant(_ text: Substring) -> Instant? {
        let months = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ]
        let parts = text.split { " :".contains($0) }
        guard parts.count == 7, parts[6] == "GMT",
            let month = months.firstIndex(of: String(parts[0])),
            let number = Int64(parts[1]), let hour = Int64(parts[2]), let minute = Int64(parts[3]),
            let second = Int64(parts[4]), let year = Int64(parts[5]),
            let day = CivilDay(checking: year, month: Int64(month) + 1, day: number)
        else { return nil }
        return Instant(seconds: ((day.daysSince1970 * 24 + hour) * 60 + minute) * 60 + second)
    }
}
