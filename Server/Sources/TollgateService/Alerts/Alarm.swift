// SPDX-License-Identifier: Apache-2.0
/// Something that somebody should look at.
package struct Alarm: Hashable, Sendable {
    /// The cause; two alarms of one name are the same alarm, whatever they say.
    package var name: String
    /// A sentence that says what is wrong.
    package var sentence: String
    /// A sentence that says what to do.
    package var remedy: String
    /// True if it loses money or locks out payers now, and is told in quiet hours, too.
    package var isUrgent: Bool

    init(_ name: String, _ sentence: String, _ remedy: String, isUrgent: Bool = false) {
        (self.name, self.sentence, self.remedy) = (name, sentence, remedy)
        self.isUrgent = isUrgent
    }
}
