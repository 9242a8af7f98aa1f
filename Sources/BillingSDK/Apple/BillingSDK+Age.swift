#if (os(iOS) && canImport(DeclaredAgeRange)) || BILLING_APPLE_STUBS
    import DeclaredAgeRange
    import Foundation
    internal import TollgateAPI
    import UIKit

    @available(iOS 26, macCatalyst 26, *)
    extension BillingSDK {
        /// Asks the system which of the catalog's ages the person has reached, and records at the server
        /// what they share.
        ///
        /// Apple shows its own sheet and may ask a parent. Nothing is asked where the catalog asks for no
        /// age, or the customer has reached the highest. A younger customer is asked again, since people
        /// grow older: Apple keeps the answer and shows its sheet rarely. The app needs the capability Declared Age Range.
        /// <https://developer.apple.com/documentation/declaredagerange/agerangeservice>
        ///
        /// In some regions the law sets the ages, so the range may begin and end elsewhere than at
        /// ``Consents/askedAges``. Where one of these lies inside it, ``Consents/isAgeUnclear`` stays true: ask
        /// the customer, whose answer counts within the range.
        /// - Parameter viewController: over which Apple's sheet is shown.
        /// - Returns: what is on record then; ``Consents/isAgeMissing`` stays true where the person shares
        ///   nothing or is younger; ``Consents/isTooYoung`` tells the two apart.
        /// - Throws: as ``getConsents()``; Apple's errors.
        @MainActor
        public func requestAge(in viewController: UIViewController) async throws -> Consents {
            let consents = try await getConsents()
            let ages = consents.askedAges
            guard let lowest = ages.first, consents.isAgeUnclear || consents.statedAgeBelow != nil
            else { return consents }
            let response = try await AgeRangeService.shared.requestAgeRange(
                ageGates: lowest,
                ages.count > 1 ? ages[1] : nil,
                ages.count > 2 ? ages[2] : nil,
                in: viewController
            )
            guard case .sharing(let range) = response,
                let age = API.Consents.AgeStatement(range)
            else { return consents }
            do {
                return try await ConsentCalls(client: client)
                    .record(API.ConsentsRequest(age: age))
            } catch BillingSDKError.requestRefused(_, "age_declared", _) {
                // A parent or guardian has said otherwise, perhaps on another device.
                return consents
            }
        }
    }

    @available(iOS 26, macCatalyst 26, *)
    extension API.Consents.AgeStatement {
        /// The same range; nil where it says nothing.
        ///
        /// Apple's upper bound is the last year of the range: of the ages 13 and 16, who is 14 shares
        /// 13 to 15.
        fileprivate init?(_ range: AgeRangeService.AgeRange) {
            guard range.lowerBound != nil || range.upperBound != nil else { return nil }
            self.init(
                atLeast: range.lowerBound ?? 0,
                below: range.upperBound.map { $0 + 1 },
                declaration: range.ageRangeDeclaration
                    .flatMap(Consents.AgeDeclaration.init)?.rawValue
            )
        }
    }

    @available(iOS 26, macCatalyst 26, *)
    extension Consents.AgeDeclaration {
        /// The same in the record's words; nil for one that is none of them.
        fileprivate init?(_ declaration: AgeRangeService.AgeRangeDeclaration) {
            switch declaration {
            case .selfDeclared: self = .selfDeclared
            case .guardianDeclared: self = .guardianDeclared
            default:
                // The checked ones came with iOS 26.2 and `confirmed` with iOS 26.5; Xcode 26.0 knows
                // neither by name.
                let name = String(describing: declaration)
                if name == "confirmed" {
                    self = .confirmed
                } else if name.contains("Checked") || name.contains("checked") {
                    self = name.hasPrefix("guardian") ? .guardianChecked : .selfChecked
                } else {
                    return nil
                }
            }
        }
    }
#endif
