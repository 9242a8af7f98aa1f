import Crypto
import Foundation
import SwiftASN1
import X509

extension AppStore {
    /// Asks the issuers of certificates whether they have revoked them (OCSP, RFC 6960).
    ///
    /// Optional: a signature that was good at its date stays evidence. A network that fails is no
    /// verdict on a certificate, so it ends in `revocationUnknown`, which may be tried again.
    public actor RevocationChecks {
        /// How long a good answer holds, in milliseconds.
        public static let lifetime: Int64 = 900_000
        /// How many good answers are remembered.
        public static let capacity = 32

        private let transport: Transport
        private let now: @Sendable () -> Int64
        private var good: [(chain: [UInt8], until: Int64)] = []

        /// How many chains were asked about since the start.
        public private(set) var asked = 0

        /// - Parameters:
        ///   - transport: Carries requests, to addresses that stand in proven certificates.
        ///   - now: The wall clock in UNIX milliseconds.
        public init(transport: @escaping Transport, now: @escaping @Sendable () -> Int64) {
            self.transport = transport
            self.now = now
        }

        /// Asks about a chain that is proven already.
        func check(
            leaf: [UInt8],
            intermediate: [UInt8],
            roots: [Certificate]
        ) async throws(VerificationError) {
            let chain = Array(SHA256.hash(data: leaf + intermediate))
            good.removeAll { $0.until <= now() }
            guard !good.contains(where: { $0.chain == chain }) else { return }
            guard let subject = try? Certificate(derEncoded: leaf),
                let issuer = try? Certificate(derEncoded: intermediate)
            else { throw VerificationError(.certificateEncoding) }
            asked += 1
            let line = Line(transport: transport)
            var verifier = Verifier(rootCertificates: CertificateStore(roots)) {
                ProvenChain()
                OCSPVerifierPolicy(failureMode: .hard, requester: line)
            }
            let result = await verifier.validate(
                leaf: subject,
                intermediates: CertificateStore([issuer])
            )
            switch result {
            case .validCertificate:
                guard await !line.hasFailed else { throw VerificationError(.revocationUnknown) }
                // Whoever asked meanwhile about the same chain takes up no second place.
                good.removeAll { $0.chain == chain }
                good.append((chain, now() + Self.lifetime))
                if good.count > Self.capacity { good.removeFirst() }
            case .couldNotValidate(let failures):
                let isRevoked = failures.contains {
                    "\($0.policyFailureReason)".hasPrefix("revoked")
                }
                throw VerificationError(isRevoked ? .revoked : .revocationUnknown)
            }
        }
    }
}

/// The certificates were proven before; here only their revocation is of interest.
private struct ProvenChain: VerifierPolicy {
    let verifyingCriticalExtensions: [ASN1ObjectIdentifier] = [
        ASN1ObjectIdentifier.X509ExtensionID.basicConstraints,
        ASN1ObjectIdentifier.X509ExtensionID.keyUsage,
        ASN1ObjectIdentifier.X509ExtensionID.extendedKeyUsage,
    ]

    func chainMeetsPolicyRequirements(
        chain: UnverifiedCertificateChain
    ) async -> PolicyEvaluationResult {
        .meetsPolicy
    }
}

/// Carries OCSP requests, and remembers whether an answer failed to come.
private actor Line: OCSPRequester {
    private let transport: AppStore.Transport
    private(set) var hasFailed = false

    init(transport: @escaping AppStore.Transport) {
        self.transport = transport
    }

    func query(request: [UInt8], uri: String) async -> OCSPRequesterQueryResult {
        let outgoing = AppStore.HTTPRequest(
            method: "POST",
            url: uri,
            headers: [
                "Content-Type": "application/ocsp-request", "Accept": "application/ocsp-response",
            ],
            body: request
        )
        do {
            let response = try await transport(outgoing)
            guard response.status == 200 else { return failed(NoAnswer(status: response.status)) }
            return .response(response.body)
        } catch {
            return failed(error)
        }
    }

    private func failed(_ error: any Error) -> OCSPRequesterQueryResult {
        hasFailed = true
        return .nonTerminalError(error)
    }

    private struct NoAnswer: Error {
        var status: Int
    }
}

extension AppStore.SignedDataVerifier {
    /// Asks whether the certificates of signed data were revoked, after its chain was proven and
    /// its signature found to be good: nobody makes this server call an address of theirs.
    ///
    /// - Parameter now: UNIX milliseconds.
    /// - Throws: `revoked`; `revocationUnknown` where no answer came, which may pass; all that the
    ///   signature itself may break.
    public func checkRevocation(
        of signedData: [UInt8],
        by checks: AppStore.RevocationChecks,
        now: Int64
    ) async throws(AppStore.VerificationError) {
        let chain = try provenChain(of: signedData, now: now)
        try await checks.check(leaf: chain.leaf, intermediate: chain.intermediate, roots: roots)
    }

    private func provenChain(
        of signedData: [UInt8],
        now: Int64
    ) throws(AppStore.VerificationError) -> CertificateChain {
        let opened = signedData.withUnsafeBytes { text in
            Result { () throws(AppStore.VerificationError) in try open(text, now: now) }
        }
        return try opened.get().chain
    }
}
