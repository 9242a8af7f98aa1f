internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore

/// An error in words for a person: what is so, never how a program or one of its libraries calls it.
public enum PlainWords {
    /// - Parameter modules: how the names of modules begin whose errors say themselves what is so.
    public static func of(_ error: any Error, modules: [String]) -> String {
        switch error {
        case let error as any ProgramFailure: error.message
        case let error as DecodingError: reading(error)
        case let error as CocoaError: file(error.code)
        case let error as POSIXError: String(cString: strerror(error.code.rawValue))
        case let error as IOError: String(cString: strerror(error.errnoCode))
        case let error as HTTPClientError: connection(error)
        case is CancellationError: "it was stopped"
        case let error as any CustomStringConvertible where isOf(modules, error): error.description
        case _ where String(reflecting: type(of: error)).contains("NIO"):
            "nobody answers at this address"
        default: "something failed here that should not; please report it"
        }
    }

    private static func isOf(_ modules: [String], _ error: Any) -> Bool {
        let type = String(reflecting: type(of: error))
        return modules.contains { type.hasPrefix($0) }
    }

    private static func reading(_ error: DecodingError) -> String {
        func name(_ path: [any CodingKey]) -> String {
            "'" + path.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
                + "'"
        }
        switch error {
        case .keyNotFound(let key, let context):
            return "\(name(context.codingPath + [key])) is missing"
        case .typeMismatch(_, let context), .valueNotFound(_, let context),
            .dataCorrupted(let context):
            return context.codingPath.isEmpty
                ? "it is not the JSON that is expected"
                : "\(name(context.codingPath)) is not what is expected there"
        @unknown default: return "it is not the JSON that is expected"
        }
    }

    private static func file(_ code: CocoaError.Code) -> String {
        switch code {
        case .fileNoSuchFile, .fileReadNoSuchFile: "there is no such file"
        case .fileReadNoPermission, .fileWriteNoPermission: "this user may not do that"
        case .fileReadInapplicableStringEncoding, .fileReadUnknownStringEncoding,
            .fileReadCorruptFile:
            "it is no text in UTF-8"
        case .fileWriteOutOfSpace: "the disk is full"
        case .fileWriteVolumeReadOnly: "the disk is read-only"
        case .propertyListReadCorrupt: "it is not the JSON that is expected"
        default: "the file cannot be used"
        }
    }

    private static func connection(_ error: HTTPClientError) -> String {
        switch error {
        case .connectTimeout: "nobody answers at this address"
        case .readTimeout, .writeTimeout, .deadlineExceeded: "no answer came in time"
        case .remoteConnectionClosed: "the connection was closed before the answer"
        case .invalidURL, .emptyHost, .missingSocketPath, .emptyScheme: "the address is no URL"
        default: "the connection failed"
        }
    }
}
