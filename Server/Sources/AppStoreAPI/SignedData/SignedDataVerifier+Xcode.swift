import Crypto
import StrictJSON
internal import TextFormats

extension AppStore.SignedDataVerifier {
    /// Verifies a transaction that a device presents: of the App Store, or of StoreKit testing in Xcode
    /// where its certificate is configured.
    ///
    /// Only a transaction of Xcode has the environment `.xcode`, and only this function returns one.
    /// Whatever the App Store may have signed never comes as far as Xcode's certificate.
    public func verifyDeviceTransaction(
        _ signedTransaction: [UInt8],
        now: Int64
    ) throws(AppStore.VerificationError) -> AppStore.Transaction {
        do {
            return try verifyTransaction(signedTransaction, now: now)
        } catch {
            guard error.rule == .chainLength else { throw error }
        }
        let (payload, certificate) = try openOfXcode(signedTransaction)
        let json = try Self.wholeMilliseconds(AppStore.parse(payload))
        guard PayloadType(of: json) == .transaction else {
            throw AppStore.VerificationError(.payloadType)
        }
        try check(
            signed: json,
            "signedDate",
            from: certificate.notBefore,
            to: certificate.notAfter,
            now: now
        )
        let transaction = try AppStore.Transaction(json: json)
        guard transaction.environment == .xcode else {
            throw AppStore.VerificationError(.notOfXcode)
        }
        _ = try app(bundleID: transaction.bundleID)
        return transaction
    }

    /// The payload under a signature of a configured certificate of Xcode's.
    private func openOfXcode(
        _ signed: [UInt8]
    ) throws(AppStore.VerificationError) -> ([UInt8], AppStore.XcodeCertificates.Pinned) {
        let opened = signed.withUnsafeBytes { text in
            Result { () throws(AppStore.VerificationError) in try openOfXcode(text) }
        }
        return try opened.get()
    }

    private func openOfXcode(
        _ text: UnsafeRawBufferPointer
    ) throws(AppStore.VerificationError) -> ([UInt8], AppStore.XcodeCertificates.Pinned) {
        let jws = try CompactJWS(text)
        let certificate = try signer(of: jws)
        guard let signature = Base64.decodeURL(jws.signature) else {
            throw AppStore.VerificationError(.notBase64URL, at: "signature")
        }
        let payload = try jws.decodePayload()
        var hash = SHA256()
        hash.update(bufferPointer: jws.signingInput)
        guard Self.isGenuine(signature, over: hash.finalize(), by: certificate.key) else {
            throw AppStore.VerificationError(.signature)
        }
        return (payload, certificate)
    }

    private func signer(
        of jws: CompactJWS
    ) throws(AppStore.VerificationError) -> AppStore.XcodeCertificates.Pinned {
        let header = try SignedHeader.ofOneCertificate(jws.header)
        if let pinned = xcode?.certificate(header.der) { return pinned }
        // Nothing is proven by that name, but it tells what the developer has to do.
        guard header.namesXcode else { throw AppStore.VerificationError(.chainLength) }
        throw AppStore.VerificationError(xcode == nil ? .xcodeUntrusted : .xcodeUnknown)
    }

    /// The payload with whole numbers as its dates: some versions of Xcode write fractions of a
    /// millisecond (`1697679936049.7297`), which are cut off.
    private static func wholeMilliseconds(
        _ payload: JSON
    ) throws(AppStore.VerificationError) -> JSON {
        let text = payload.rawBytes
        var (whole, copied): ([UInt8], Int) = ([], text.startIndex)
        for (name, value) in payload.members where name.hasSuffix("Date") && value.int64 == nil {
            guard let date = value.double, abs(date) < 1e15 else { continue }
            let place = value.rawBytes
            whole += text[copied..<place.startIndex]
            whole += Array("\(Int64(date.rounded(.down)))".utf8)
            copied = place.endIndex
        }
        guard copied > text.startIndex else { return payload }
        return try AppStore.parse(whole + text[copied...])
    }
}
