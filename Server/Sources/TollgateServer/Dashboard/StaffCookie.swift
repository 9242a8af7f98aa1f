internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import TollgateService

/// The cookies of the dashboard: who is there, and in which language.
struct StaffCookie: Sendable {
    /// Whether browsers reach this server by TLS; then the name's prefix binds it to this host.
    let isSecure: Bool

    init(_ configuration: Configuration) {
        isSecure = configuration.publicURL.hasPrefix("https://")
    }

    /// A browser takes a `__Host-` cookie only with `Secure` and `Path=/`, and from no subdomain.
    var name: String { isSecure ? "__Host-tollgate_staff" : "tollgate_staff" }

    func secret(in request: Request) -> String? { Self.value(name, in: request) }

    /// - Parameter seconds: how long it lasts; 0 removes it.
    func set(_ secret: String, seconds: Int64) -> String {
        "\(name)=\(secret); Path=/; Max-Age=\(seconds); HttpOnly; SameSite=Lax"
            + (isSecure ? "; Secure" : "")
    }

    private var browserName: String {
        isSecure ? "__Host-tollgate_browser" : "tollgate_browser"
    }

    /// What a browser keeps in which somebody has signed in before.
    func browser(in request: Request) -> String? { Self.value(browserName, in: request) }

    func setBrowser(_ text: String) -> String {
        "\(browserName)=\(text); Path=/; Max-Age=15552000; HttpOnly; SameSite=Lax"
            + (isSecure ? "; Secure" : "")
    }

    private var openIDName: String { isSecure ? "__Host-tollgate_oidc" : "tollgate_oidc" }

    /// What a browser keeps while its owner signs in at an issuer.
    func openID(in request: Request) -> String? { Self.value(openIDName, in: request) }

    /// - Parameter seconds: 0 removes it.
    func setOpenID(_ secret: String, seconds: Int64) -> String {
        "\(openIDName)=\(secret); Path=/; Max-Age=\(seconds); HttpOnly; SameSite=Lax"
            + (isSecure ? "; Secure" : "")
    }

    private static let languageName = "tollgate_language"

    func setLanguage(_ language: Language) -> String {
        "\(Self.languageName)=\(language.rawValue); Path=/dashboard; Max-Age=31536000; HttpOnly; "
            + "SameSite=Lax" + (isSecure ? "; Secure" : "")
    }

    /// As chosen, else as the browser would have it.
    func language(of request: Request) -> Language {
        Self.value(Self.languageName, in: request).flatMap { Language(rawValue: $0) }
            ?? Language(accepting: request.headers[.acceptLanguage])
    }

    private static func value(_ name: String, in request: Request) -> String? {
        for header in request.headers[values: .cookie] {
            for pair in header.split(separator: ";") {
                let parts = pair.split(separator: "=", maxSplits: 1)
                guard parts.count == 2, parts[0].trimmingCharacters(in: .whitespaces) == name
                else { continue }
                return parts[1].trimmingCharacters(in: .whitespaces)
            }
        }
        return nil
    }
}
