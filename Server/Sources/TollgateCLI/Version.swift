import CBuildInfo

/// The version of this program.
enum Version {
    /// As the newest section of CHANGELOG.md that has a date; docs/releases.md says what the parts mean.
    static let number = "0.9.0"

    /// The answer to `tollgate --version`: the version, and the commit from which a package was built.
    static var text: String {
        let commit = String(cString: buildinfo_commit())
        return commit.isEmpty ? "\(number) (built from source)" : "\(number) (\(commit))"
    }
}
