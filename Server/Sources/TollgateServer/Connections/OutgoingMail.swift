// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import Synchronization
public import TollgateService

/// Hands mail to mail servers by SMTP; libcurl speaks it.
public enum OutgoingMail {
    /// Hands over one mail, within 25 seconds.
    ///
    /// The connection is ended early if the task is cancelled.
    public static let transport: MailTransport = { mail, server in
        try await send(mail, to: server, within: .seconds(25))
    }

    /// Connects to a mail server and logs in, within 25 seconds, and sends nothing.
    ///
    /// - Parameter sender: the address of mails to come.
    /// - Throws: `MailFailed`.
    public static func greet(_ server: MailServer, as sender: String) async throws {
        try await transfer(nil, from: sender, to: server, within: .seconds(25))
    }

    /// - Throws: `MailFailed`.
    static func send(_ mail: Mail, to server: MailServer, within limit: Duration) async throws {
        try await transfer(mail, from: mail.sender, to: server, within: limit)
    }

    private static func transfer(
        _ mail: Mail?,
        from sender: String,
        to server: MailServer,
        within limit: Duration
    ) async throws {
        let stop = Stop()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Void, any Error>) in
                // Waiting for a mail server must block none of the threads that run Swift's tasks.
                Thread.detachNewThread {
                    let result = Result {
                        try MailTransfer(mail, from: sender, to: server, stop).run(within: limit)
                    }
                    continuation.resume(with: result)
                }
            }
        } onCancel: {
            stop.request()
        }
    }

    /// A wish to end, which a thread looks at that cannot be interrupted.
    final class Stop: Sendable {
        private let flag = Mutex(false)

        var isRequested: Bool { flag.withLock { $0 } }

        func request() { flag.withLock { $0 = true } }
    }
}
