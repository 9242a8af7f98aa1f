extension GooglePlay {
    /// The text of a report: some come in UTF-16, others in UTF-8.
    ///
    /// https://support.google.com/googleplay/android-developer/answer/6135870
    enum ReportText {
        /// - Returns: `nil` for bytes that are neither.
        static func text(_ bytes: [UInt8]) -> String? {
            switch (bytes.first, bytes.dropFirst().first) {
            case (0xFF, 0xFE): utf16(bytes.dropFirst(2), isLittle: true)
            case (0xFE, 0xFF): utf16(bytes.dropFirst(2), isLittle: false)
            // Without its mark: the name of a column begins with a letter of ASCII.
            case (let first?, 0) where first != 0: utf16(bytes[...], isLittle: true)
            case (0, let second?) where second != 0: utf16(bytes[...], isLittle: false)
            default:
                String(
                    validating: bytes.starts(with: [0xEF, 0xBB, 0xBF])
                        ? bytes.dropFirst(3) : bytes[...],
                    as: UTF8.self
                )
            }
        }

        private static func utf16(_ bytes: ArraySlice<UInt8>, isLittle: Bool) -> String? {
            guard bytes.count.isMultiple(of: 2) else { return nil }
            let units = stride(from: bytes.startIndex, to: bytes.endIndex, by: 2).map { place in
                let (first, second) = (UInt16(bytes[place]), UInt16(bytes[place + 1]))
                return isLittle ? second << 8 | first : first << 8 | second
            }
            return String(validating: units, as: UTF16.self)
        }
    }
}
