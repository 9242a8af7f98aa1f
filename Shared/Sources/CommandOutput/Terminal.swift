public import Foundation
internal import Synchronization

/// The output of a command.
public enum Terminal {
    /// The first failure to write to standard output.
    private static let failure = Mutex<CheckFailed?>(nil)

    /// Prints a line; where that fails, `finish()` throws and the rest is dropped.
    public static func say(_ line: String) {
        try? put(Data((line + "\n").utf8))
    }

    /// Prints a line of a command that goes on, whether or not somebody still reads it.
    public static func announce(_ line: String) {
        _ = send(Data((line + "\n").utf8), to: STDOUT_FILENO)
    }

    public static func complain(_ line: String) {
        mark(line + "\n")
    }

    /// Writes `text` to standard error as it is, such as a line of progress.
    public static func mark(_ text: String) {
        _ = send(Data(text.utf8), to: STDERR_FILENO)
    }

    /// Prints `value` as JSON with sorted keys.
    public static func sayJSON(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        say(String(decoding: try encoder.encode(value), as: UTF8.self))
    }

    /// Writes `bytes` to standard output.
    ///
    /// - Throws: `CheckFailed` where standard output takes no more.
    public static func put(_ bytes: Data) throws {
        try failure.withLock { failure in
            if failure == nil {
                failure = send(bytes, to: STDOUT_FILENO).map {
                    CheckFailed(message: "The output could not be written: \($0)")
                }
            }
            if let failure { throw failure }
        }
    }

    /// To be called when a command has said everything.
    ///
    /// - Throws: `CheckFailed` where a part of it could not be written.
    public static func finish() throws {
        try put(Data())
    }

    /// Whether somebody looks at standard error.
    public static var isInteractive: Bool { isatty(STDERR_FILENO) == 1 }

    /// The colour of a word that people look for.
    public enum Colour: Int, Sendable {
        case red = 31
        case green = 32
        case yellow = 33
    }

    /// Colours a text for a terminal; `NO_COLOR` leaves it plain (https://no-color.org).
    public static func coloured(_ text: String, _ colour: Colour) -> String {
        isColoured ? "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m" : text
    }

    private static let isColoured: Bool = {
        let environment = ProcessInfo.processInfo.environment
        return isatty(STDOUT_FILENO) == 1 && environment["NO_COLOR", default: ""].isEmpty
            && environment["TERM"] != "dumb"
    }()

    /// Makes a write to a closed pipe an error, not the end of the process.
    public static func outliveReaders() {
        signal(SIGPIPE, SIG_IGN)
        // A database or connection that took a closed one's number would be written to.
        for handle in STDIN_FILENO...STDERR_FILENO where fcntl(handle, F_GETFD) == -1 {
            _ = open("/dev/null", O_RDONLY)
        }
    }

    /// - Returns: why not all of `bytes` was written.
    private static func send(_ bytes: Data, to handle: Int32) -> String? {
        bytes.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count {
                let count = write(
                    handle,
                    bytes.baseAddress?.advanced(by: done),
                    bytes.count - done
                )
                if count >= 0 {
                    done += count
                } else if errno == EAGAIN {
                    var ready = pollfd(fd: handle, events: Int16(POLLOUT), revents: 0)
                    poll(&ready, 1, -1)
                } else if errno != EINTR {
                    return why(errno)
                }
            }
            return nil
        }
    }

    private static func why(_ code: Int32) -> String {
        switch code {
        case EPIPE: "its reader has gone."
        case ENOSPC: "there is no space left. Make room, or write elsewhere."
        case EBADF: "standard output is closed."
        case EFBIG, EDQUOT: "the file would be larger than is allowed."
        default: "the system refused (\(String(cString: strerror(code))))."
        }
    }
}
