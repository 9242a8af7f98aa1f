#if (os(iOS) && canImport(DeclaredAgeRange)) || BILLING_APPLE_STUBS
    import DeclaredAgeRange
    import Foundation
    import UIKit

    @available(iOS 26, macCatalyst 26, *)
    extension BillingSDK {
        /// Asks the system whether the person has reached the age that the catalog asks for, and records at
        /// the server what they share.
        ///
        /// Apple shows its own sheet and may ask a parent. Nothing is asked where the catalog asks for no
        /// age or it is on record. The app needs the capability Declared Age Range.
        /// <https://developer.apple.com/documentation/declaredagerange/agerangeservice>
        /// - Parameter viewController: over which Apple's sheet is shown.
        /// - Returns: what is on record then; ``Consents/isAgeMissing`` stays true where the person shares
        ///   nothing or is younger.
        /// - Throws: as ``getConsents()``; Apple's errors.
        @MainActor
        public func requestAge(in viewController: UIViewController) async throws -> Consents {
            let consents = try await getConsents()
            guard consents.isAgeMissing, let minimumAge = consents.minimumAge else {
                return consents
            }
            let response = try await AgeRangeService.shared.requestAgeRange(
                ageGates: minimumAge,
                in: viewController
            )
            guard case .sharing(let range) = response, let age = range.lowerBound else {
                return consents
            }
            return try await stateAge(atLeast: age)
        }
    }
#endif
