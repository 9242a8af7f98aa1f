import Foundation

/// The command line.
struct Options {
    enum Failure: Error {
        case missing(String)
        case unreadable(String)
    }

    let notifications: String
    let stripeEvents: String
    let root: [UInt8]
    let rounds: Int
    let bundleID = "com.example.app"
    let webhookSecret = "whsec_benchmark0000000000000000000"

    init(_ arguments: [String]) throws {
        func value(_ name: String) throws -> String {
            guard let index = arguments.firstIndex(of: name), index + 1 < arguments.count else {
                throw Failure.missing(name)
            }
            return arguments[index + 1]
        }
        notifications = try value("--notifications")
        stripeEvents = try value("--stripe-events")
        let path = try value("--root")
        guard let root = FileManager.default.contents(atPath: path) else {
            throw Failure.unreadable(path)
        }
        self.root = [UInt8](root)
        rounds = Int(try value("--rounds")) ?? 5
    }
}
