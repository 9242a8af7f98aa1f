/// Retention messaging: the app's images, messages, defaults and realtime URL
/// (<https://developer.apple.com/documentation/retentionmessaging>).
struct Retention: Codable, Sendable {
    /// Apple's review of an image or a message.
    enum State: String, Codable, Sendable {
        case pending = "PENDING"
        case approved = "APPROVED"
        case rejected = "REJECTED"
    }

    /// The size of an image.
    enum ImageSize: String, Codable, Sendable {
        case fullSize = "FULL_SIZE"
        case bulletPoint = "BULLET_POINT"
    }

    /// An uploaded image, without its bytes: nothing here shows them.
    struct Image: Codable, Sendable {
        var id: String
        var size: ImageSize
        var state: State
    }

    /// An uploaded message.
    struct Message: Codable, Sendable {
        var id: String
        var content: RetentionMessageContent
        var state: State
    }

    /// The product and the language that a default message is for.
    struct Place: Codable, Hashable, Sendable {
        var product: String
        var locale: String
    }

    /// In the order of their upload.
    var images: [Image] = []
    /// In the order of their upload.
    var messages: [Message] = []
    /// Message identifiers.
    var defaults: [Place: String] = [:]
    /// The app's `Get Retention Message` endpoint.
    var realtimeURL: String?
    /// True once the endpoint has passed a performance test.
    var hasPassedTest = false

    func image(_ id: String) -> Image? { images.first { $0.id == id } }
    func message(_ id: String) -> Message? { messages.first { $0.id == id } }

    /// True where a message and all of its images may be shown.
    func isApproved(_ message: Message) -> Bool {
        message.state == .approved
            && message.content.imageIDs.allSatisfy { image($0)?.state == .approved }
    }
}

/// `UploadMessageRequestBody`.
struct RetentionMessageContent: Codable, Hashable, Sendable {
    struct Image: Codable, Hashable, Sendable {
        var imageIdentifier: String
        var altText: String
    }

    struct BulletPoint: Codable, Hashable, Sendable {
        var text: String
        var imageIdentifier: String
        var altText: String
    }

    enum HeaderPosition: String, Codable, Sendable {
        case aboveBody = "ABOVE_BODY"
        case aboveImage = "ABOVE_IMAGE"
    }

    var header: String
    var body: String
    var image: Image?
    var headerPosition: HeaderPosition?
    var bulletPoints: [BulletPoint]?

    /// In lower case.
    var imageIDs: [String] {
        ((image.map { [$0.imageIdentifier] } ?? [])
            + (bulletPoints ?? []).map(\.imageIdentifier)).map { $0.lowercased() }
    }

    /// Refuses what is too long or too much
    /// (<https://developer.apple.com/documentation/retentionmessaging/upload-message>).
    ///
    /// Lengths are counted in Unicode scalars; in what Apple counts them is not documented.
    func check() throws(APIError) {
        guard header.unicodeScalars.count <= 66 else { throw .headerTooLong }
        guard body.unicodeScalars.count <= 144 else { throw .bodyTooLong }
        let points = bulletPoints ?? []
        let texts = (image.map { [$0.altText] } ?? []) + points.map(\.altText)
        guard texts.allSatisfy({ $0.unicodeScalars.count <= 150 }) else { throw .altTextTooLong }
        guard points.count <= 5 else { throw .tooManyBulletPoints }
        guard points.allSatisfy({ $0.text.unicodeScalars.count <= 66 }) else {
            throw .bulletPointTextTooLong
        }
        guard headerPosition != .aboveImage || image != nil else {
            throw .aboveImageRequiresAnImage
        }
    }
}
