import Foundation

/// Causes of answers that say "500" and nothing else: they are told on standard error.
enum Trouble {
    static func tell(_ error: any Error, during exchange: Exchange) {
        FileHandle.standardError.write(Data((line(error, during: exchange) + "\n").utf8))
    }

    static func line(_ error: any Error, during exchange: Exchange) -> String {
        "sandbox: \(exchange.method) /\(exchange.path.joined(separator: "/")) answered 500: "
            + "\(error)"
    }
}
