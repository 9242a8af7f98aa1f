// SPDX-License-Identifier: Apache-2.0
package import TollgateCore

extension LetterSettings {
    /// A test email, with the sender and the address for answers that customers see.
    ///
    /// - Parameters:
    ///   - owner: the address by which people know the server.
    ///   - id: unique.
    ///   - wall: real time.
    package func trial(
        to recipient: String,
        of owner: String,
        id: String,
        at wall: Instant
    ) -> Mail {
        var mail = MailText(
            id: id,
            from: sender,
            to: recipient,
            subject: "Test of Tollgate's emails",
            text: """
                This is a test email of Tollgate at \(owner).

                Its emails to customers have the same sender, and come by the same mail server.
                """,
            date: wall
        )
        (mail.fromName, mail.replyTo) = (senderName, replyTo)
        return Mail(sender: sender, recipient: recipient, bytes: mail.bytes)
    }
}
