import CommandOutput
import AppStoreAPI
import ArgumentParser
import Foundation
import TollgateCore
import TollgateService

/// `tollgate app-store retention`: the messages that the App Store shows to customers who are about
/// to cancel.
struct RetentionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retention",
        abstract: "Set up the messages for customers who are about to cancel.",
        discussion: "docs/app-store.md tells the way from an image to a message that is shown.",
        subcommands: [
            ImagesCommand.self, UploadImageCommand.self, DeleteImageCommand.self,
            MessagesCommand.self, UploadMessageCommand.self, DeleteMessageCommand.self,
            DefaultMessageCommand.self, RealtimeURLCommand.self, PerformanceTestCommand.self,
        ]
    )

    /// An uploaded image or message.
    struct Upload: Encodable {
        var id: UUID?
        var state: String?
        var size: String?

        static func say(_ uploads: [Upload], json: Bool) throws {
            if json { return try Terminal.sayJSON(uploads) }
            for upload in uploads {
                let id = upload.id?.uuidString.lowercased()
                let words = [id, upload.state, upload.size].compactMap { $0 }
                Terminal.say(words.joined(separator: "  "))
            }
        }
    }

    /// A UUID as the App Store's identifiers are.
    static func identifier(_ text: String) throws -> UUID {
        guard let id = UUID(uuidString: text) else {
            throw ValidationError("'\(text)' is not a UUID.")
        }
        return id
    }
}

/// `tollgate app-store retention images`.
struct ImagesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "images",
        abstract: "List the images, and whether Apple has approved them."
    )

    @OptionGroup var options: AppStoreOptionGroup

    func run() async throws {
        let images = try await AppStoreConnection.run(options) {
            try await $0.server.imageList()
        }
        try RetentionCommand.Upload.say(
            images.map {
                .init(id: $0.imageIdentifier, state: $0.state?.rawValue, size: $0.size?.rawValue)
            },
            json: options.json
        )
    }
}

/// `tollgate app-store retention upload-image FILE`.
struct UploadImageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "upload-image",
        abstract: "Upload an image, and print its identifier.",
        discussion: """
            A PNG without transparency, 3840 pixels wide and 160 to 2160 high; with --bullet-point \
            1024 by 1024.
            """
    )

    @Argument(help: "The PNG file.")
    var file: String

    @Flag(help: "For a bullet point.")
    var bulletPoint = false

    @Option(help: "The identifier, a UUID; a new one if left out.")
    var id: String?

    @OptionGroup var options: AppStoreOptionGroup
    @OptionGroup var audit: AuditOptionGroup

    func run() async throws {
        let id = try id.map(RetentionCommand.identifier) ?? UUID()
        let png: Data
        do {
            png = try Data(contentsOf: URL(fileURLWithPath: file))
        } catch {
            throw CheckFailed(message: "\(file): cannot be read: \(error.localizedDescription)")
        }
        try await audit.change("upload_image", "image", id, options) {
            try await $0.server.uploadImage(
                id,
                png: Array(png),
                size: bulletPoint ? .bulletPoint : .fullSize
            )
        }
        try RetentionCommand.Upload.say([.init(id: id)], json: options.json)
    }
}

/// `tollgate app-store retention delete-image ID`.
struct DeleteImageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete-image",
        abstract: "Delete an image that no message has."
    )

    @Argument(help: "The image's identifier.")
    var id: String

    @OptionGroup var options: AppStoreOptionGroup
    @OptionGroup var audit: AuditOptionGroup

    func run() async throws {
        let image = try RetentionCommand.identifier(id)
        try await audit.change("delete_image", "image", image, options) {
            try await $0.server.deleteImage(image)
        }
        try AppStoreDone(done: "deleted", subject: id).say(json: options.json)
    }
}

/// `tollgate app-store retention messages`.
struct MessagesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "messages",
        abstract: "List the messages, and whether Apple has approved them."
    )

    @OptionGroup var options: AppStoreOptionGroup

    func run() async throws {
        let messages = try await AppStoreConnection.run(options) {
            try await $0.server.messageList()
        }
        try RetentionCommand.Upload.say(
            messages.map { .init(id: $0.messageIdentifier, state: $0.state?.rawValue) },
            json: options.json
        )
    }
}

/// `tollgate app-store retention upload-message --header … --body …`.
struct UploadMessageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "upload-message",
        abstract: "Upload a message, and print its identifier.",
        discussion: "A message for another plan or for an offer has no image and no bullet points."
    )

    @Option(help: "At most 66 characters.")
    var header: String

    @Option(help: "At most 144 characters.")
    var body: String

    @Option(help: "An uploaded image's identifier.")
    var image: String?

    @Option(help: "What the image shows, at most 150 characters.")
    var altText = ""

    @Flag(help: "The header stands above the image.")
    var headerAboveImage = false

    @Option(
        help: "IMAGE=TEXT: a bullet point with its image and at most 66 characters; up to five."
    )
    var bulletPoint: [String] = []

    @Option(help: "The identifier, a UUID; a new one if left out.")
    var id: String?

    @OptionGroup var options: AppStoreOptionGroup
    @OptionGroup var audit: AuditOptionGroup

    func run() async throws {
        let id = try id.map(RetentionCommand.identifier) ?? UUID()
        let message = try message()
        try await audit.change("upload_message", "message", id, options) {
            try await $0.server.uploadMessage(id, message)
        }
        try RetentionCommand.Upload.say([.init(id: id)], json: options.json)
    }

    private func message() throws -> AppStore.RetentionMessage {
        AppStore.RetentionMessage(
            header: header,
            body: body,
            image: try image.map {
                .init(imageIdentifier: try RetentionCommand.identifier($0), altText: altText)
            },
            isHeaderAboveImage: headerAboveImage,
            bulletPoints: try bulletPoint.map { pair in
                guard let sign = pair.firstIndex(of: "=") else {
                    throw ValidationError("--bullet-point is IMAGE=TEXT.")
                }
                let text = String(pair[pair.index(after: sign)...])
                let image = try RetentionCommand.identifier(String(pair[..<sign]))
                // A bullet's image is decoration: what it says is the text.
                return .init(text: text, image: .init(imageIdentifier: image, altText: text))
            }
        )
    }
}

/// `tollgate app-store retention delete-message ID`.
struct DeleteMessageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete-message",
        abstract: "Delete a message."
    )

    @Argument(help: "The message's identifier.")
    var id: String

    @OptionGroup var options: AppStoreOptionGroup
    @OptionGroup var audit: AuditOptionGroup

    func run() async throws {
        let message = try RetentionCommand.identifier(id)
        try await audit.change("delete_message", "message", message, options) {
            try await $0.server.deleteMessage(message)
        }
        try AppStoreDone(done: "deleted", subject: id).say(json: options.json)
    }
}

extension AuditOptionGroup {
    /// Changes an image or a message.
    fileprivate func change(
        _ action: String,
        _ kind: String,
        _ id: UUID,
        _ options: AppStoreOptionGroup,
        _ work: (AppStoreConnection) async throws -> Void
    ) async throws {
        let deed = Deed("app_store.\(action)", "\(kind):\(id.uuidString.lowercased())")
        try await AppStoreConnection.run(options) { connection in
            try await run(deed) { try await work(connection) }
        }
    }
}
