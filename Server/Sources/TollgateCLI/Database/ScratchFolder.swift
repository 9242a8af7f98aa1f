// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Where databases lie that are thrown away: each is as large as what is derived in it.
enum ScratchFolder {
    /// `TMPDIR`, else `/var/tmp`, since `/tmp` is memory on many machines.
    static var parent: URL {
        let large = "/var/tmp"
        guard ProcessInfo.processInfo.environment["TMPDIR"] == nil,
            FileManager.default.isWritableFile(atPath: large)
        else { return FileManager.default.temporaryDirectory }
        return URL(fileURLWithPath: large, isDirectory: true)
    }
}
