// Minimal stand-in for Apple's DeclaredAgeRange: only what the SDK asks.
@_exported import UIKit

@available(iOS 26, macOS 26, macCatalyst 26, *)
public struct AgeRangeService: Sendable {
    public static let shared = AgeRangeService()

    public enum Response: Sendable {
        case sharing(range: AgeRange)
        case declinedSharing
    }
    public struct AgeRange: Sendable {
        public var lowerBound: Int?
        public var upperBound: Int?
    }

    public func requestAgeRange(
        ageGates threshold1: Int,
        _ threshold2: Int? = nil,
        _ threshold3: Int? = nil,
        in viewController: UIViewController
    ) async throws -> Response {
        await MainActor.run {
            _FakeAge.gates.append(threshold1)
            guard let age = _FakeAge.age else { return .declinedSharing }
            let isOver = age >= threshold1
            return .sharing(
                range: AgeRange(
                    lowerBound: isOver ? threshold1 : nil,
                    upperBound: isOver ? nil : threshold1
                )
            )
        }
    }
}

/// Stub-only: how old the person on this phone is; nil declines to say.
@MainActor public enum _FakeAge {
    public static var age: Int?
    public static var gates: [Int] = []
}
