import Foundation
import Hummingbird
import NIOCore

/// An error of the App Store Server API; its HTTP status is the code's first three digits.
struct APIError: Error, HTTPResponseError {
    var code: Int64
    var message: String
    /// Sent as `Retry-After`, which Apple states as an instant in UNIX milliseconds.
    var retryAfter: Int64?

    init(_ code: Int64, _ message: String, retryAfter: Int64? = nil) {
        self.code = code
        self.message = message
        self.retryAfter = retryAfter
    }

    /// "Invalid request. The … parameter is invalid."
    static func parameter(_ code: Int64, _ name: String) -> Self {
        Self(code, "Invalid request. The \(name) parameter is invalid.")
    }

    /// "Invalid request. The … field is invalid."
    static func field(_ code: Int64, _ name: String) -> Self {
        Self(code, "Invalid request. The \(name) field is invalid.")
    }

    static let invalidRevision = Self(4_000_005, "Invalid request revision.")
    static let invalidTransactionID = Self(4_000_006, "Invalid transaction id.")
    static let invalidOriginalTransactionID = Self(
        4_000_008,
        "Invalid original transaction id."
    )
    static let badRequest = Self(4_000_000, "Bad request.")
    static let originalTransactionIDNotFound = Self(
        4_040_005,
        "Original transaction id not found."
    )
    static let appTransactionDoesNotExist = Self(
        4_040_019,
        "No AppTransaction exists for the customer."
    )
    static let transactionIDNotFound = Self(4_040_010, "Transaction id not found.")
    static let appTransactionIDNotSupported = Self(
        4_000_048,
        "Invalid request. App transactions aren't supported by this endpoint."
    )
    static let familyTransactionNotSupported = Self(
        4_000_185,
        "Invalid request. Family Sharing transactions aren't supported by this endpoint."
    )
    static let assignedTransactionNotSupported = Self(
        4_000_227,
        "Invalid request. Assigned transactions aren't supported by this endpoint."
    )
    static let notOriginalTransactionID = Self(
        4_000_187,
        "Invalid request. The transaction ID provided is not an original transaction ID."
    )

    var status: HTTPResponse.Status { .init(code: Int(code / 10_000)) }

    private struct Body: Encodable {
        var errorCode: Int64
        var errorMessage: String
    }

    func response(from request: Request, context: some RequestContext) throws -> Response {
        var response = try Response.json(
            Body(errorCode: code, errorMessage: message),
            status: status
        )
        if let retryAfter { response.headers[.retryAfter] = String(retryAfter) }
        return response
    }
}

/// 401 as Apple sends it: without a JSON body.
struct Unauthenticated: Error, HTTPResponseError {
    var status: HTTPResponse.Status { .unauthorized }

    func response(from request: Request, context: some RequestContext) throws -> Response {
        Response(
            status: .unauthorized,
            headers: [.contentType: "text/plain"],
            body: .init(byteBuffer: ByteBuffer(string: "Unauthenticated\n"))
        )
    }
}

extension Response {
    /// `value` as JSON.
    static func json(
        _ value: some Encodable,
        status: HTTPResponse.Status = .ok
    ) throws -> Response {
        let bytes = try PayloadSigner.encoder.encode(value)
        return Response(
            status: status,
            headers: [.contentType: "application/json"],
            body: .init(byteBuffer: ByteBuffer(bytes: bytes))
        )
    }

    static func empty(_ status: HTTPResponse.Status = .ok) -> Response {
        Response(status: status)
    }
}
