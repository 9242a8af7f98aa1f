import StrictJSON

extension AppStore {
    /// Why signed data was refused.
    ///
    /// It never holds anything of the payload, but for the bundle id of an app that is not listed.
    public struct VerificationError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The rule that was broken.
        public let rule: Rule
        /// Where: a field's name or a certificate's place, in our words.
        public let place: String?
        /// Whether the signature was found valid before this rule failed: then the data comes
        /// from the App Store, and sending it again will not help.
        public let isAuthentic: Bool
        /// Whether the data is authentic and for this app and environment, only its content is of
        /// no use: the App Store is then not told to send it again.
        public let isUnusable: Bool
        /// How many seconds the signing date lies ahead of our clock, where that is the error.
        public let secondsAhead: Int64?

        /// An error of this rule.
        public init(
            _ rule: Rule,
            at place: String? = nil,
            isAuthentic: Bool = false,
            isUnusable: Bool = false,
            secondsAhead: Int64? = nil
        ) {
            self.rule = rule
            self.place = place
            self.isAuthentic = isAuthentic || isUnusable
            self.isUnusable = isUnusable
            self.secondsAhead = secondsAhead
        }

        /// The code that our API answers with.
        public var code: Code { rule.code }

        /// Whether the same data may pass later.
        ///
        /// A valid signature from the future is Apple's: it is our clock that is behind.
        public var isRetryable: Bool {
            [.chainBudget, .revocationUnknown, .signedInFuture].contains(rule)
        }

        public var description: String {
            if let secondsAhead {
                return "\(rule.sentence): \(secondsAhead) seconds ahead of this server's clock"
            }
            return place.map { "\(rule.sentence) (\($0))" } ?? rule.sentence
        }

        static func json(_ error: JSON.ParsingError, of part: String) -> Self {
            Self(.invalidJSON, at: "\(part), byte \(error.offset): \(error.rule.sentence)")
        }

        /// The same error, found after the signature was.
        var authentic: Self {
            Self(
                rule,
                at: place,
                isAuthentic: true,
                isUnusable: isUnusable,
                secondsAhead: secondsAhead
            )
        }

        /// The same error, found after the data had turned out to be for this app.
        var unusable: Self { Self(rule, at: place, isUnusable: true) }
    }
}

extension AppStore.VerificationError {
    /// What a caller sees of a refusal.
    ///
    /// Part of our contract: never renamed.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        case algorithm = "jws_alg"
        case header = "jws_header"
        case chainLength = "jws_chain_length"
        case untrusted = "jws_untrusted"
        case policy = "jws_policy"
        case date = "jws_date"
        case signature = "jws_signature"
        case encoding = "jws_encoding"
        case json = "json"
        case appUnknown = "app_unknown"
        case environment = "environment"
        case type = "jws_type"
        case binding = "jws_binding"
        case chainBudget = "chain_budget"
        case revoked = "jws_revoked"
        case revocationUnknown = "revocation_unknown"
        case xcodeCertificate = "xcode_certificate"
    }

    /// The rules, in about the order in which they are checked.
    public enum Rule: String, Hashable, Sendable, CaseIterable {
        case tooLong, notThreeParts, notBase64URL
        case invalidJSON, fieldType, fieldMissing
        case headerNotObject, headerExtension, algorithm
        case chainLength, certificateEncoding, issuerName, unknownRoot, certificateSignature
        case chainBudget
        case certificateVersion, notAuthority, pathLength, criticalExtension, keyUsage, keyType
        case certificateAlgorithm, marker
        case revoked, revocationUnknown
        case signature
        case payloadType
        case signedDateMissing, dateRange, certificateNotYetValid, certificateExpired
        case signedInFuture
        case xcodeUntrusted, xcodeUnknown, notOfXcode
        case bundle, unlistedApp, appAppleID, environment, testEnvironment
        case innerApp, innerEnvironment, innerSubscription

        /// The code that a caller sees.
        public var code: Code {
            switch self {
            case .tooLong, .notThreeParts, .notBase64URL: .encoding
            case .invalidJSON, .fieldType, .fieldMissing: .json
            case .headerNotObject, .headerExtension: .header
            case .algorithm: .algorithm
            case .chainLength: .chainLength
            case .certificateEncoding, .issuerName, .unknownRoot, .certificateSignature:
                .untrusted
            case .chainBudget: .chainBudget
            case .certificateVersion, .notAuthority, .pathLength, .criticalExtension, .keyUsage,
                .keyType, .certificateAlgorithm, .marker:
                .policy
            case .revoked: .revoked
            case .revocationUnknown: .revocationUnknown
            case .signature: .signature
            case .payloadType: .type
            case .signedDateMissing, .dateRange, .signedInFuture, .certificateNotYetValid,
                .certificateExpired:
                .date
            case .bundle, .unlistedApp, .appAppleID: .appUnknown
            case .environment, .testEnvironment, .notOfXcode: .environment
            case .xcodeUntrusted, .xcodeUnknown: .xcodeCertificate
            case .innerApp, .innerEnvironment, .innerSubscription: .binding
            }
        }

        /// Whether a signed object belongs to something else than what it came with.
        var isBinding: Bool { code == .binding }

        /// The rule in words.
        public var sentence: String {
            switch self {
            case .tooLong: "the signed data is too long"
            case .notThreeParts: "signed data has exactly three parts, separated by dots"
            case .notBase64URL: "a part is no strict base64url (RFC 4648, section 5, no padding)"
            case .invalidJSON: "not strictly valid JSON"
            case .fieldType: "a field has another type than documented"
            case .fieldMissing: "a field is missing"
            case .headerNotObject: "the header is no JSON object"
            case .headerExtension: "the header asks for an extension (crit, b64, zip)"
            case .algorithm: "the header's alg is not ES256"
            case .chainLength: "the header's x5c does not hold exactly three certificates"
            case .certificateEncoding: "a certificate of the chain cannot be read"
            case .issuerName: "a certificate's issuer is not the next certificate's subject"
            case .unknownRoot: "the chain does not end at a configured root certificate"
            case .certificateSignature: "a certificate was not signed by its issuer"
            case .chainBudget: "too many unknown certificate chains at the moment"
            case .certificateVersion: "a certificate is not of version 3"
            case .notAuthority: "an issuing certificate is no certificate authority, or the leaf is"
            case .pathLength: "a path length constraint is exceeded"
            case .criticalExtension: "a certificate has a critical extension that is not handled"
            case .keyUsage: "a certificate's key usage does not allow what it is used for"
            case .keyType: "a certificate's key is of the wrong type"
            case .certificateAlgorithm: "a certificate is not signed with ECDSA and SHA-2"
            case .marker: "a certificate lacks the extension that marks App Store signing"
            case .revoked: "a certificate of the chain was revoked by its issuer"
            case .revocationUnknown:
                "whether a certificate was revoked could not be found out now; try again"
            case .signature: "the signature is not valid"
            case .payloadType: "the payload is of another type than expected"
            case .signedDateMissing: "the payload has no signing date"
            case .dateRange: "a date is no whole number of milliseconds within range"
            case .signedInFuture: "the payload is signed more than 300 seconds in the future"
            case .certificateNotYetValid: "a certificate was not yet valid at the signing date"
            case .certificateExpired: "a certificate was no longer valid at the signing date"
            case .xcodeUntrusted:
                "Xcode has signed this on a developer's machine, and this server trusts the App Store alone; on a test server, set TOLLGATE_APP_STORE_XCODE_CERTIFICATE_FILE (docs/sdk.md, StoreKit testing in Xcode)"
            case .xcodeUnknown:
                "Xcode has signed this with another certificate than those of TOLLGATE_APP_STORE_XCODE_CERTIFICATE_FILE; save the present one there and restart the server (docs/sdk.md, StoreKit testing in Xcode)"
            case .notOfXcode:
                "Xcode's certificate signs for the environment Xcode alone"
            case .bundle: "the payload is for another app (bundle id)"
            case .unlistedApp:
                "the payload is for an app that is not among ‘apps’ in the catalog; add it there"
            case .appAppleID: "the payload is for another app (app Apple id)"
            case .environment: "the payload is for an environment that is not configured"
            case .testEnvironment:
                "the App Store signs nothing of the environments Xcode and LocalTesting"
            case .innerApp: "an inner signed object belongs to another app"
            case .innerEnvironment: "an inner signed object belongs to another environment"
            case .innerSubscription: "transaction and renewal info belong to different purchases"
            }
        }
    }
}
