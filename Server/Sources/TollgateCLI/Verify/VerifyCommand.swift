import CommandOutput
import AppStoreAPI
import ArgumentParser
import Foundation
import StrictJSON
import TollgateCore

/// `tollgate verify FILE`: any object that the App Store signed, decoded, or the rule it broke.
struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Verify signed data of the App Store and print it, or name the broken rule."
    )

    @Argument(help: "A JWS, or a notification's body {\"signedPayload\":…}.")
    var file: String

    @Option(help: "A trusted root certificate, in DER. May be given more than once.")
    var root: [String]

    @Option(name: .customLong("bundle-id"), help: "The app's bundle id.")
    var bundleID: String

    @Option(help: "Production or Sandbox.")
    var environment: String

    @Option(name: .customLong("app-apple-id"), help: "The app's Apple id; needed in Production.")
    var appAppleID: Int64?

    @Option(help: "Verify as of this instant, in UNIX milliseconds; now if left out.")
    var at: Int64?

    @Flag(help: "Name the broken rule in JSON, too.")
    var json = false

    /// A refusal as the API words it.
    private struct Refused: Encodable {
        struct Reason: Encodable {
            var code: String
            var message: String
        }

        var error: Reason
    }

    func run() async throws {
        guard let bytes = FileManager.default.contents(atPath: file) else {
            throw CheckFailed(message: "\(file): there is no such file, or it cannot be read.")
        }
        let roots = try root.map { path in
            guard let der = FileManager.default.contents(atPath: path) else {
                throw CheckFailed(message: "\(path): there is no such file, or it cannot be read.")
            }
            return Array(der)
        }
        let verifier: AppStore.SignedDataVerifier
        do {
            verifier = try AppStore.SignedDataVerifier(
                roots: roots,
                bundleID: bundleID,
                appAppleID: appAppleID,
                environments: [AppStore.Environment(rawValue: environment.capitalized)]
            )
        } catch {
            throw ValidationError(PlainWords.of(error))
        }
        let now = at ?? SystemClock.now().milliseconds
        do {
            let payload = try Self.payload(of: Array(bytes), verifier, now: now)
            let object = try JSONSerialization.jsonObject(with: payload)
            let pretty = try JSONSerialization.data(
                withJSONObject: object,
                options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            )
            Terminal.say(String(decoding: pretty, as: UTF8.self))
        } catch let error as AppStore.VerificationError {
            let code = error.code.rawValue
            guard json else { throw CheckFailed(message: "\(code): \(error)") }
            try Terminal.sayJSON(Refused(error: .init(code: code, message: "\(error)")))
            throw CheckFailed(message: "")
        }
    }

    /// What kind of object it is, is tried in turn; the error of the most likely kind is told.
    private static func payload(
        of bytes: [UInt8],
        _ verifier: AppStore.SignedDataVerifier,
        now: Int64
    ) throws -> Data {
        let text = String(decoding: bytes, as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        if text.hasPrefix("{") {
            let body = try AppStore.NotificationBody(Array(text.utf8))
            return Data(
                try verifier.verifyNotification(signedPayload: body.signedPayload, now: now)
                    .json.rawBytes
            )
        }
        let jws = Array(text.utf8)
        let attempts: [() throws -> Data] = [
            { Data(try verifier.verifyTransaction(jws, now: now).json.rawBytes) },
            { Data(try verifier.verifyRenewalInfo(jws, now: now).json.rawBytes) },
            { Data(try verifier.verifyNotification(signedPayload: jws, now: now).json.rawBytes) },
            { Data(try verifier.verifyAppTransaction(jws, now: now).json.rawBytes) },
            {
                Data(try verifier.verifyRealtimeRequest(signedPayload: jws, now: now).json.rawBytes)
            },
        ]
        var first: (any Error)?
        for attempt in attempts {
            do {
                return try attempt()
            } catch let error as AppStore.VerificationError where error.code == .type {
                first = first ?? error
            }
        }
        throw first ?? CheckFailed(message: "nothing was verified")
    }
}
