internal import Foundation
internal import Hummingbird
internal import Stores
internal import TollgateAPI
internal import TollgateService

/// A member's own second factor.
struct SecondFactorPages: DashboardPages {
    let request: DashboardRequest

    /// - Parameters:
    ///   - new: one that is being set up.
    ///   - codes: recovery codes that were just made, shown this once.
    func secondFactor(
        new: NewSecondFactor? = nil,
        codes: [String] = [],
        refusal: Refusal?
    ) async throws -> Response {
        let (isOn, left) = try await tollgate.secondFactors.state(of: visit.member.name)
        return page(
            "dash_factor",
            words["second_factor"],
            section: "account",
            [
                "isOn": isOn, "isNew": new != nil, "isOff": !isOn && new == nil,
                "secret": new?.secret ?? "", "uri": new?.uri ?? "",
                "hasCodes": !codes.isEmpty, "codes": codes,
                "recoveryText": words("factor_recovery_left", ["count": "\(left)"]),
                "hasPassword": visit.member.hasPassword,
                "isDemanded": visit.lacksSecondFactor && codes.isEmpty,
                "refusal": refusal.map { words["error_\($0.error.code.rawValue)"] } ?? false,
            ],
            status: HTTPResponse.Status(code: refusal?.status ?? 200)
        )
    }

    func changeSecondFactor(_ action: String, _ form: [String: String]) async throws -> Response {
        let code = form["code"] ?? ""
        let subject = "staff:\(visit.member.name)"
        do {
            switch action {
            case "begin":
                let new = try await tollgate.secondFactors.begin(
                    visit,
                    password: form["password"] ?? ""
                )
                return try await secondFactor(new: new, refusal: nil)
            case "confirm":
                let codes = try await audited(
                    Deed("staff.factor_on", subject)
                ) { try await tollgate.secondFactors.confirm(visit, code: code) }
                return try await secondFactor(codes: codes, refusal: nil)
            case "renew":
                let codes = try await audited(
                    Deed("staff.recovery_codes", subject)
                ) { try await tollgate.secondFactors.renewRecoveryCodes(visit, code: code) }
                return try await secondFactor(codes: codes, refusal: nil)
            case "remove":
                try await audited(Deed("staff.factor_off", subject)) {
                    try await tollgate.secondFactors.remove(visit, code: code)
                }
                return done("factor_removed", "/dashboard/account/second-factor")
            default: throw Refusal.nothingHere
            }
        } catch let refusal as Refusal where [401, 429].contains(refusal.status) {
            let new = try await tollgate.secondFactors.pending(visit)
            return try await secondFactor(new: action == "confirm" ? new : nil, refusal: refusal)
        }
    }
}
