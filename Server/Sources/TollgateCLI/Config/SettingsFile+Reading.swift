import CommandOutput
import Foundation
import TollgateServer
import TollgateService

extension SettingsFile {
    /// The file of `TOLLGATE_CONFIG`, else `tollgate.yaml` if there is one here; `nil`: there is none.
    ///
    /// - Throws: `CheckFailed` where others may have written the one here: whoever starts a command in
    ///   their folder has not chosen their settings, which say where secret keys are sent.
    static func path() throws -> String? {
        if let path = ProcessInfo.processInfo.environment["TOLLGATE_CONFIG"], !path.isEmpty {
            return path
        }
        let usual = "tollgate.yaml"
        var file = stat()
        var link = stat()
        guard stat(usual, &file) == 0, lstat(usual, &link) == 0 else { return nil }
        let isOwn = [file, link].allSatisfy { $0.st_uid == geteuid() || $0.st_uid == 0 }
        guard isOwn, file.st_mode & 0o002 == 0 else {
            throw CheckFailed(
                message:
                    "tollgate.yaml in this folder is another user's, or everybody may write to it. If you mean its settings, name it: TOLLGATE_CONFIG=tollgate.yaml"
            )
        }
        return usual
    }

    /// The settings in the file at `path` that are secrets and stand in it as text.
    static func secrets(at path: String) -> [String] {
        guard let bytes = FileManager.default.contents(atPath: path),
            let file = try? read(bytes: bytes, file: path)
        else { return [] }
        return file.values.filter { name, values in
            secretNames.contains(name)
                && values.contains { if case .text = $0.source { true } else { false } }
        }.keys.sorted()
    }

    /// Reads the file at `path`, and the files and variables that it names.
    ///
    /// - Parameter alone: whether the file is judged as a server's whole configuration. A command beside a
    ///   server may lack variables that the server has; it goes on.
    /// - Returns: the settings, as their variables would have them.
    /// - Throws: `CatalogErrors` with every mistake and its place, `CheckFailed` where there is no file.
    static func settings(at path: String, alone: Bool = false) throws -> [String: String] {
        let bytes: Data
        do {
            bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        } catch {
            throw CheckFailed(message: "\(path): cannot be read: \(PlainWords.of(error))")
        }
        var settings: [String: String] = [:]
        var errors: [CatalogError] = []
        let file = try read(bytes: bytes, file: path)
        for (name, values) in file.values {
            var texts: [String] = []
            for value in values {
                do {
                    texts.append(try value.source.resolved())
                } catch {
                    errors.append(
                        CatalogError(
                            file: path,
                            line: value.line,
                            column: value.column,
                            message: PlainWords.of(error)
                        )
                    )
                }
            }
            settings[name] = texts.joined(separator: ",")
        }
        if errors.isEmpty { errors = mistakes(in: settings, at: path, file.values, alone) }
        guard errors.isEmpty else {
            throw CatalogErrors(errors.sorted { ($0.line, $0.column) < ($1.line, $1.column) })
        }
        // The server reads them when it starts.
        if alone,
            let folder = Settings.given(nil, "EMAILS_TEMPLATES") ?? settings["EMAILS_TEMPLATES"]
        {
            _ = try LetterTemplates(folder: folder)
        }
        return settings
    }
}

extension SettingsFile {
    /// Mistakes in what the settings mean, together with the variables that win over them.
    private static func mistakes(
        in settings: [String: String],
        at path: String,
        _ places: [String: [Value]],
        _ alone: Bool
    ) -> [CatalogError] {
        let mistakes = SettingMistake.all(
            { name in
                let text = Settings.given(nil, name) ?? settings[name]
                return text?.isEmpty == false ? text : nil
            },
            among: Settings.names
        )
        return mistakes.filter { alone || !$0.isOfSeveral }.compactMap { mistake in
            // What a variable says has no place; commands that read it report it.
            guard Settings.given(nil, mistake.name) == nil, let place = places[mistake.name]?.first
            else { return nil }
            return CatalogError(
                file: path,
                line: place.line,
                column: place.column,
                message: mistake.message
            )
        }
    }
}

extension SettingsFile.Source {
    /// - Throws: `CheckFailed` where it names nothing.
    fileprivate func resolved() throws -> String {
        let environment = ProcessInfo.processInfo.environment
        switch self {
        case .text(let text): return text
        case .variable(let name):
            guard let text = environment[name], !text.isEmpty else {
                throw CheckFailed(
                    message: "the variable \(name) is not set; set it, or name another"
                )
            }
            return text
        case .file(let path): return try Self.firstLine(of: path)
        case .credential(let name):
            guard let folder = environment["CREDENTIALS_DIRECTORY"] else {
                throw CheckFailed(
                    message:
                        "there are no credentials: give the unit LoadCredential=\(name):PATH, which sets CREDENTIALS_DIRECTORY"
                )
            }
            return try Self.firstLine(of: folder + "/" + name)
        }
    }

    private static func firstLine(of path: String) throws -> String {
        let text: String
        do {
            text = try String(contentsOf: URL(fileURLWithPath: path), encoding: .utf8)
        } catch {
            throw CheckFailed(message: "\(path) cannot be read: \(PlainWords.of(error))")
        }
        guard let line = text.split(whereSeparator: \.isNewline).first else {
            throw CheckFailed(message: "\(path) is empty; write the value into its first line")
        }
        return line.trimmingCharacters(in: .whitespaces)
    }
}
