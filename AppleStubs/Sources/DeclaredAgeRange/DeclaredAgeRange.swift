// Minimal stand-in for Apple's DeclaredAgeRange: only what the SDK asks.
@_exported import UIKit

@available(iOS 26, macOS 26, macCatalyst 26, *)
public struct AgeRangeService: Sendable {
    public static let shared = AgeRangeService()

    public enum Response: Sendable {
        case sharing(range: AgeRange)
        case declinedSharing
    }
    /// Only those of iOS 26.0, and one of 26.2.
    public enum AgeRangeDeclaration: Sendable {
        case selfDeclared, guardianDeclared
        @available(iOS 26.2, macOS 26.2, macCatalyst 26.2, *)
        case guardianPaymentChecked
    }
    public struct AgeRange: Sendable {
        public var lowerBound: Int?
        public var upperBound: Int?
        public var ageRangeDeclaration: AgeRangeDeclaration?
    }

    public func requestAgeRange(
        ageGates threshold1: Int,
        _ threshold2: Int? = nil,
        _ threshold3: Int? = nil,
        in viewController: UIViewController
    ) async throws -> Response {
        await MainActor.run {
            let ages = [threshold1, threshold2, threshold3].compactMap { $0 }
            _FakeAge.gates.append(ages)
            if let range = _FakeAge.range {
                return .sharing(
                    range: AgeRange(
                        lowerBound: range.lowerBound,
                        upperBound: range.upperBound,
                        ageRangeDeclaration: _FakeAge.declaration
                    )
                )
            }
            guard let age = _FakeAge.age else { return .declinedSharing }
            return .sharing(
                range: AgeRange(
                    lowerBound: ages.last { $0 <= age },
                    upperBound: ages.first { $0 > age }.map { $0 - 1 },
                    ageRangeDeclaration: _FakeAge.declaration
                )
            )
        }
    }
}

/// Stub-only: how old the person on this phone is; nil declines to say.
@MainActor public enum _FakeAge {
    public static var age: Int?
    public static var declaration: AgeRangeService.AgeRangeDeclaration?
    /// The range that is shared whatever ages the app asks for, as in regions whose law sets them.
    public static var range: ClosedRange<Int>?
    /// The ages of each call.
    public static var gates: [[Int]] = []
}
