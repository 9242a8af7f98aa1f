import Foundation
import StrictJSON

extension AppStore {
    /// Asks `verifyReceipt`, the App Store's deprecated way, for those who still live on receipts.
    public struct ReceiptClient: Sendable {
        /// Where receipts are verified, by environment.
        public static func url(of environment: Environment) -> String {
            environment == .production
                ? "https://buy.itunes.apple.com/verifyReceipt"
                : "https://sandbox.itunes.apple.com/verifyReceipt"
        }

        private let sharedSecret: String
        private let urls: [Environment: String]
        private let transport: Transport
        private let sleep: @Sendable (Duration) async throws -> Void

        /// A client.
        ///
        /// - Parameters:
        ///   - sharedSecret: The app's, 32 hexadecimal digits.
        ///   - urls: Addresses by environment; see ``url(of:)``.
        ///   - transport: Carries requests.
        ///   - sleep: Waits before another attempt.
        public init(
            sharedSecret: String,
            urls: [Environment: String] = [
                .production: url(of: .production), .sandbox: url(of: .sandbox),
            ],
            transport: @escaping Transport,
            sleep: @escaping @Sendable (Duration) async throws -> Void = {
                try await Task.sleep(for: $0)
            }
        ) {
            self.sharedSecret = sharedSecret
            self.urls = urls
            self.transport = transport
            self.sleep = sleep
        }

        /// Verifies a receipt, in production first and in the sandbox where production says that
        /// it is a sandbox's (21007).
        ///
        /// - Parameters:
        ///   - receiptData: Base64, as the app posted it.
        ///   - excludesOld: Leave out all but the newest transaction of each subscription.
        public func verify(
            _ receiptData: String,
            excludesOld: Bool = false
        ) async throws(ReceiptError) -> VerifiedReceipt {
            let first: Environment = urls[.production] == nil ? .sandbox : .production
            do {
                return try await ask(receiptData, excludesOld, in: first)
            } catch {
                let other: Environment = first == .production ? .sandbox : .production
                guard case .refused(let status) = error.cause, urls[other] != nil,
                    status
                        == (first == .production
                            ? .sandboxReceiptInProduction : .productionReceiptInSandbox)
                else { throw error }
                return try await ask(receiptData, excludesOld, in: other)
            }
        }

        private func ask(
            _ receiptData: String,
            _ excludesOld: Bool,
            in environment: Environment
        ) async throws(ReceiptError) -> VerifiedReceipt {
            var attempt = 1
            while true {
                do {
                    return try await askOnce(receiptData, excludesOld, in: environment)
                } catch {
                    guard error.isRetryable, attempt < ServerAPIClient.maximumAttempts,
                        !Task.isCancelled
                    else { throw error }
                    do { try await sleep(.seconds(attempt)) } catch let interruption {
                        throw ReceiptError(cause: .unreachable(interruption))
                    }
                    attempt += 1
                }
            }
        }

        private func askOnce(
            _ receiptData: String,
            _ excludesOld: Bool,
            in environment: Environment
        ) async throws(ReceiptError) -> VerifiedReceipt {
            let body = JSONText.object([
                ("receipt-data", .string(receiptData)), ("password", .string(sharedSecret)),
                ("exclude-old-transactions", .bool(excludesOld)),
            ])
            let request = HTTPRequest(
                method: "POST",
                url: urls[environment] ?? Self.url(of: environment),
                headers: ["Content-Type": "application/json", "Accept": "application/json"],
                body: body.bytes
            )
            let response: HTTPResponse
            do { response = try await transport(request) } catch {
                throw ReceiptError(cause: .unreachable(error))
            }
            guard (200...299).contains(response.status) else {
                throw ReceiptError(cause: .failed(status: response.status))
            }
            do {
                let json = try AppStore.parse(response.body, of: "answer")
                guard json.kind == .object,
                    let code = LegacyField.integer("status", in: json).flatMap({ Int(exactly: $0) })
                else { throw VerificationError(.fieldMissing, at: "status") }
                let status = ReceiptStatus(rawValue: code)
                guard status.isValid else {
                    let isRetryable = LegacyField.bool("is_retryable", in: json)
                    throw ReceiptError(
                        cause: .refused(status),
                        isRetryable: status.mayPass(isRetryable)
                    )
                }
                return try VerifiedReceipt(json, status: status, environment: environment)
            } catch let error as ReceiptError {
                throw error
            } catch let error as VerificationError {
                throw ReceiptError(cause: .unreadable(error))
            } catch {
                throw ReceiptError(cause: .unreachable(error))
            }
        }
    }

    /// Why a receipt could not be verified.
    public struct ReceiptError: Error, Sendable, CustomStringConvertible {
        /// What went wrong.
        public enum Cause: Sendable {
            /// The App Store refused the receipt.
            case refused(ReceiptStatus)
            /// It answered with an HTTP status, which it does only when it is out of order.
            case failed(status: Int)
            /// No answer came.
            case unreachable(any Error)
            /// The answer is not what is documented.
            case unreadable(VerificationError)
        }

        public let cause: Cause
        /// Whether asking again later may help.
        public let isRetryable: Bool

        init(cause: Cause, isRetryable: Bool? = nil) {
            self.cause = cause
            self.isRetryable =
                isRetryable
                ?? {
                    switch cause {
                    case .failed(let status): status == 429 || status >= 500
                    case .unreachable: true
                    case .refused, .unreadable: false
                    }
                }()
        }

        /// What the App Store said of the receipt, if it said anything.
        public var status: ReceiptStatus? {
            if case .refused(let status) = cause { status } else { nil }
        }

        public var description: String {
            switch cause {
            case .refused(let status): "verifyReceipt: \(status.rawValue), \(status.sentence)"
            case .failed(let status): "verifyReceipt: HTTP status \(status)"
            case .unreachable(let error): "verifyReceipt: no answer (\(error))"
            case .unreadable(let error): "verifyReceipt: unreadable answer: \(error)"
            }
        }
    }
}
