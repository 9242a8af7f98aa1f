// SPDX-License-Identifier: Apache-2.0
import Foundation
import TollgateCore
import TollgateServer
import TollgateService

/// The check of the public address's TLS certificate: its time and its name.
struct PublicCertificate {
    private static let check = "public_url.certificate"
    /// The days before its end from which on it should have been renewed: Let's Encrypt's certificates
    /// are renewed a month before.
    private static let warningDays: Int64 = 21

    let url: String
    let host: String

    /// - Returns: `nil` for an address without TLS, or none.
    init?(_ publicURL: String?) {
        guard let publicURL, publicURL.lowercased().hasPrefix("https://"),
            let host = URL(string: publicURL)?.host()
        else { return nil }
        (url, self.host) = (publicURL, host)
    }

    func finding(at date: Date) async -> Finding {
        let now = Instant(milliseconds: Int64(date.timeIntervalSince1970 * 1000))
        guard let certificate = await PeerCertificate.shown(at: url) else {
            return .skipped(Self.check, "\(host) shows no certificate, as seen from here.")
        }
        guard certificate.isForHost else {
            return .failed(
                Self.check,
                "The certificate that \(host) shows is for another name.",
                "Get a certificate for \(host), and have the proxy use it for this name. Stores and apps refuse this one."
            )
        }
        let end = certificate.end
        let left = end.milliseconds - now.milliseconds
        guard left > 0 else {
            return .failed(
                Self.check,
                "The certificate of \(host) expired on \(end).",
                "Renew it and reload the proxy. Stores and apps refuse this one."
            )
        }
        guard left > Self.warningDays * 86_400_000 else {
            return .warning(
                Self.check,
                "The certificate of \(host) ends in \(left / 86_400_000) days, on \(end).",
                "Renew it, reload the proxy, and look at the log of what should have renewed it."
            )
        }
        return .ok(Self.check, "The certificate of \(host) is valid until \(end).")
    }
}
