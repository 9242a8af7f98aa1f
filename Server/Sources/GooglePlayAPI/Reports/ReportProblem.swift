extension GooglePlay {
    /// Why a report of the Play Console cannot be read: where, what, and what helps.
    public struct ReportProblem: Error, Hashable, Sendable, CustomStringConvertible {
        /// The file's name, within a zip file that of the file in it.
        public var file: String
        /// The line in the file; `nil` where it is the whole file's fault.
        public var line: Int?
        public var message: String

        public init(file: String, line: Int? = nil, _ message: String) {
            (self.file, self.line, self.message) = (file, line, message)
        }

        public var description: String {
            (line.map { "\(file), line \($0): " } ?? "\(file): ") + message
        }
    }
}
