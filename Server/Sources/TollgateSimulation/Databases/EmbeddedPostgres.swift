internal import CLibPQ
internal import Foundation
internal import Synchronization

/// A PostgreSQL server of the tests' own, on loopback, with its defaults.
///
/// One for each test process; it is stopped and removed when the process ends, however it ends.
public final class EmbeddedPostgres: Sendable {
    /// Why there is no server.
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    private static let started = Result { try EmbeddedPostgres() }

    /// The server of this process, started at the first call.
    ///
    /// Throws `Failure` if PostgreSQL is not installed or does not start.
    public static func shared() throws -> EmbeddedPostgres {
        try started.get()
    }

    /// Where it listens, on 127.0.0.1.
    public let port: Int

    private let binaries: URL
    private let folder: URL
    private let databases = Atomic(0)
    /// The watchdog's standard input: the kernel closes it with this process.
    private let lifeline = Pipe()

    /// Makes a new database and returns its URL.
    ///
    /// - Parameter original: the URL of the one it is a copy of, which nobody may have open; `nil`:
    ///   it is empty.
    public func makeDatabase(copying original: String? = nil) throws -> String {
        let number = databases.add(1, ordering: .relaxed).newValue
        let name = "test\(number)"
        let template = original?.split(separator: "/").last.map { " TEMPLATE \($0)" } ?? ""
        try administrate("CREATE DATABASE \(name)\(template)")
        return url(of: name)
    }

    /// Runs SQL as the administrator, outside of any transaction; for what no driver of ours does.
    public func administrate(_ sql: String) throws {
        let connection = PQconnectdb(url(of: "postgres"))
        defer { PQfinish(connection) }
        let result = PQexec(connection, sql)
        defer { PQclear(result) }
        guard [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(result)) else {
            throw Failure(description: String(cString: PQerrorMessage(connection)))
        }
    }

    private func url(of database: String) -> String {
        "postgres://postgres@127.0.0.1:\(port)/\(database)"
    }

    private var data: String { folder.appendingPathComponent("data").path }
    private var log: String { folder.appendingPathComponent("log").path }

    private init() throws {
        binaries = try Self.findBinaries()
        folder = TestFolder.inMemory
            .appendingPathComponent("tollgate-postgres-\(UUID().uuidString)")
        port = try Self.freePort()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        if getuid() == 0 {
            // PostgreSQL refuses to run as root.
            try FileManager.default.setAttributes(
                [.ownerAccountName: "postgres"],
                ofItemAtPath: folder.path
            )
        }
        try startWatchdog()
        try command(
            "initdb",
            ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
        )
        let settings =
            "-c listen_addresses=127.0.0.1 -c unix_socket_directories= "
            + "-c max_connections=400 -c autovacuum=off -p \(port)"
        try command("pg_ctl", ["-D", data, "-w", "-l", log, "-o", settings, "start"])
    }

    private static func findBinaries() throws -> URL {
        let packaged = URL(fileURLWithPath: "/usr/lib/postgresql")
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: packaged.path)) ?? []
        let newestFirst = versions.sorted { (Int($0) ?? 0) > (Int($1) ?? 0) }
        var folders = newestFirst.map { packaged.appendingPathComponent($0 + "/bin") }
        for folder in (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":") {
            folders.append(URL(fileURLWithPath: String(folder)))
        }
        let found = folders.first { folder in
            ["initdb", "pg_ctl"].allSatisfy {
                FileManager.default.isExecutableFile(atPath: folder.appendingPathComponent($0).path)
            }
        }
        guard let found else {
            throw Failure(
                description:
                    "PostgreSQL's initdb and pg_ctl are neither in /usr/lib/postgresql/*/bin "
                    + "nor in PATH; install postgresql (Debian: apt-get install postgresql-15)"
            )
        }
        return found
    }

    private static func freePort() throws -> Int {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, size) == 0 ? getsockname(listener, address, &size) : -1
            }
        }
        guard code == 0 else { throw Failure(description: "no free port on 127.0.0.1") }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    /// Runs one of PostgreSQL's programs to its end.
    ///
    /// Not by Foundation's `Process`: it takes a program for running as long as a child of it holds
    /// an inherited descriptor, and the server that `pg_ctl` leaves behind does.
    private func command(_ name: String, _ arguments: [String]) throws {
        let words = asPostgres + [binaries.appendingPathComponent(name).path] + arguments
        let output = folder.appendingPathComponent("\(name).output").path
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        // A connection of ours that the server left behind holds open, too, is never seen to be closed.
        for descriptor in Int32(3)..<1024 {
            posix_spawn_file_actions_addclose(&actions, descriptor)
        }
        let copies = words.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        var process = pid_t()
        var status: Int32 = -1
        if posix_spawn(&process, words[0], &actions, nil, copies + [nil], environ) == 0 {
            while waitpid(process, &status, 0) < 0, errno == EINTR {}
        }
        guard status == 0 else {
            let said = [output, log].compactMap { try? String(contentsOfFile: $0, encoding: .utf8) }
            throw Failure(description: "\(name) failed: \(said.joined(separator: "\n"))")
        }
    }

    /// What a command starts with so that it runs as a user whom PostgreSQL accepts.
    private var asPostgres: [String] {
        getuid() == 0 ? ["/usr/sbin/runuser", "-u", "postgres", "--"] : []
    }

    /// A shell that waits until this process is gone, then stops the server and cleans up.
    private func startWatchdog() throws {
        let watchdog = Process()
        watchdog.executableURL = URL(fileURLWithPath: "/bin/sh")
        let stop = asPostgres + [binaries.appendingPathComponent("pg_ctl").path, "-D", data]
        watchdog.arguments = [
            "-c",
            "trap '' INT TERM HUP; read -r line; "
                + "\(stop.joined(separator: " ")) -w -m immediate stop; rm -rf \(folder.path)",
        ]
        // No other child may hold the writing end, or the watchdog would wait for it.
        _ = fcntl(lifeline.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
        watchdog.standardInput = lifeline
        watchdog.standardOutput = FileHandle.nullDevice
        watchdog.standardError = FileHandle.nullDevice
        try watchdog.run()
    }
}
