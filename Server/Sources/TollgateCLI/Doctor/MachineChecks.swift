import AsyncHTTPClient
import CommandOutput
import Foundation
import NIOCore
import NIOHTTP1
import Storage
import TollgateCore
import TollgateService

/// What can be wrong with this machine: clock, database, disk, backups, public address.
struct MachineChecks {
    let settings: ServeSettings
    let database: DoctorDatabase

    func all(over client: HTTPClient) async -> [Finding] {
        let publicURL = settings.publicURL
        // Beside the others: each may wait ten seconds, and whoever asks waits thirty.
        async let certificate = PublicCertificate(publicURL)?.finding(at: Date())
        let findings = [
            await clock(over: client), await answer(), disk(), backups(),
            await publicAddress(over: client),
        ]
        guard let certificate = await certificate else { return findings }
        return findings + [certificate]
    }

    // MARK: - Clock

    /// The clock by which another one is compared: that of a store that is set up.
    private var witness: String? {
        let stores = settings.stores
        if stores.stripeSecretKey != nil { return stores.stripeAPIBase }
        if stores.appStoreKey != nil {
            return stores.appStoreBaseURL ?? "https://api.storekit.itunes.apple.com"
        }
        return stores.googlePlay.isSetUp ? "https://androidpublisher.googleapis.com" : nil
    }

    private func clock(over client: HTTPClient) async -> Finding {
        guard !settings.clock.isVirtual else {
            return .skipped("clock", "The time is that of a sandbox (TOLLGATE_CLOCK).")
        }
        guard let witness else {
            return .skipped(
                "clock",
                "No store is set up whose clock this one could be compared with."
            )
        }
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(secondsFromGMT: 0)
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        let begun = Date()
        guard
            let answer = try? await client.execute(
                HTTPClientRequest(url: witness),
                timeout: .seconds(10)
            ), let date = answer.headers.first(name: "Date").flatMap(format.date(from:))
        else {
            return .skipped("clock", "\(witness) does not tell the time.")
        }
        // The store's time is of some moment of the request.
        let off = Int(
            begun.addingTimeInterval(Date().timeIntervalSince(begun) / 2).timeIntervalSince(date)
        )
        let remedy: Sentence = "Let NTP set it: timedatectl set-ntp true."
        switch abs(off) {
        case 0...10: return .ok("clock", "This clock agrees with that of \(witness).")
        case 11...240:
            return .warning(
                "clock",
                off < 0
                    ? "This clock is \(-off) s behind the store's."
                    : "This clock is \(off) s ahead of the store's.",
                remedy
            )
        default:
            return .failed(
                "clock",
                off < 0
                    ? "This clock is \(-off) s behind the store's: beyond five minutes, genuine messages are refused."
                    : "This clock is \(off) s ahead of the store's: beyond five minutes, genuine messages are refused.",
                remedy
            )
        }
    }

    // MARK: - Database, disk, backups

    /// Whether the database answers.
    private func answer() async -> Finding {
        let location = settings.location
        if let path = location.sqlitePath, !FileManager.default.fileExists(atPath: path) {
            return .warning(
                "database",
                "There is no database at \(path) yet.",
                "tollgate serve makes it. If there was one, its path has changed."
            )
        }
        do {
            let rows = try await database.read { try await $0.queueLengths().journal }
            return .ok("database", "\(location.description) answers; its journal has \(rows) rows.")
        } catch {
            return .failed(
                "database",
                Sentence(quoting: PlainWords.of(error)),
                "Mend it before anything else: without it, stores and apps are answered 503."
            )
        }
    }

    private func disk() -> Finding {
        guard let path = settings.location.sqlitePath else {
            return .skipped("disk", "The database is on another machine.")
        }
        guard let free = Self.room(beside: path)?.free else {
            return .skipped("disk", "The folder of \(path) is not there yet.")
        }
        let used = [path, path + "-wal"].map(Self.size).reduce(0, +)
        let words: Sentence =
            "\(Self.megabytes(free)) MB are free, the database has \(Self.megabytes(used)) MB."
        if free < 100_000_000 {
            return .failed(
                "disk",
                words,
                "Free space: the server cannot write to a full disk."
            )
        }
        if free < max(1_000_000_000, used) {
            return .warning(
                "disk",
                words,
                "Free space: a new engine derives everything again, beside the present data."
            )
        }
        return .ok("disk", words)
    }

    /// The bytes that are free on the disk of a file, and all that it has; `nil`: the folder is not there.
    static func room(beside path: String) -> (free: Int64, total: Int64)? {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        var status = statvfs()
        guard statvfs(folder, &status) == 0 else { return nil }
        func bytes(_ blocks: some BinaryInteger) -> Int64 {
            let (bytes, overflow) = UInt64(blocks).multipliedReportingOverflow(
                by: UInt64(status.f_frsize)
            )
            return overflow ? .max : Int64(clamping: bytes)
        }
        return (bytes(status.f_bavail), bytes(status.f_blocks))
    }

    private static func size(of path: String) -> Int64 {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : 0
    }

    private static func megabytes(_ bytes: Int64) -> Int64 { bytes / 1_000_000 }

    private func backups() -> Finding {
        guard settings.location.sqlitePath != nil else {
            return .skipped("backups", "PostgreSQL is backed up by its own tools.")
        }
        guard let path = Settings.text(nil, "BACKUPS") else {
            return .warning(
                "backups",
                "No folder of backups is named.",
                "Set TOLLGATE_BACKUPS to a folder, and run tollgate backup --every 1h --keep 48."
            )
        }
        let folder = BackupFolder(path: path.hasSuffix("/") ? String(path.dropLast()) : path)
        guard let newest = try? folder.newest() else {
            return .failed(
                "backups",
                "There is no backup in \(path).",
                "Run tollgate backup, and look at what should run it."
            )
        }
        let hours = Int(-newest.timeIntervalSinceNow / 3_600)
        guard hours < 26 else {
            return .failed(
                "backups",
                "The newest backup in \(path) is \(hours) hours old.",
                "Look at what should run tollgate backup: systemctl status tollgate-backup.timer."
            )
        }
        return .ok("backups", "The newest backup in \(path) is \(hours) hours old.")
    }

    // MARK: - The public address

    private func publicAddress(over client: HTTPClient) async -> Finding {
        guard let publicURL = settings.publicURL else {
            return .skipped("public_url", "TOLLGATE_PUBLIC_URL is not set.")
        }
        let base = publicURL.hasSuffix("/") ? String(publicURL.dropLast()) : publicURL
        let remedy: Sentence =
            "Look at the proxy, its certificate, and the name's address. Stores send their messages there."
        do {
            let answer = try await client.execute(
                HTTPClientRequest(url: base + "/healthz"),
                timeout: .seconds(10)
            )
            guard answer.status == .ok else {
                return .failed(
                    "public_url",
                    "\(base)/healthz answers \(answer.status.code), as seen from here.",
                    remedy
                )
            }
            return .ok("public_url", "\(base) answers, as seen from here.")
        } catch {
            return .failed("public_url", "\(base): \(PlainWords.of(error))", remedy)
        }
    }
}
