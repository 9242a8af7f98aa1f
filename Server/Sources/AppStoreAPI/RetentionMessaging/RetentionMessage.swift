internal import StrictJSON
public import Foundation

extension AppStore {
    /// The text of a retention message, with its images: `UploadMessageRequestBody`.
    ///
    /// One for a plan or an offer has no images.
    public struct RetentionMessage: Hashable, Sendable {
        /// At most 66 characters.
        public var header: String
        /// At most 144 characters.
        public var body: String
        /// A full-size image.
        public var image: Image?
        /// The header's place, above the image; without an image there is none.
        public var isHeaderAboveImage: Bool
        /// At most five.
        public var bulletPoints: [BulletPoint]

        /// An image and its alternative text.
        public struct Image: Hashable, Sendable {
            public var imageIdentifier: UUID
            /// At most 150 characters.
            public var altText: String

            public init(imageIdentifier: UUID, altText: String) {
                self.imageIdentifier = imageIdentifier
                self.altText = altText
            }

            var members: [(String, JSONText?)] {
                [
                    ("imageIdentifier", .string(imageIdentifier.uuidString.lowercased())),
                    ("altText", .string(altText)),
                ]
            }
        }

        /// A line beside an image of the size of bullet points.
        public struct BulletPoint: Hashable, Sendable {
            /// At most 66 characters.
            public var text: String
            public var image: Image

            public init(text: String, image: Image) {
                self.text = text
                self.image = image
            }
        }

        public init(
            header: String,
            body: String,
            image: Image? = nil,
            isHeaderAboveImage: Bool = false,
            bulletPoints: [BulletPoint] = []
        ) {
            self.header = header
            self.body = body
            self.image = image
            self.isHeaderAboveImage = isHeaderAboveImage
            self.bulletPoints = bulletPoints
        }

        var json: JSONText {
            .object([
                ("header", .string(header)), ("body", .string(body)),
                ("image", image.map { .object($0.members) }),
                ("headerPosition", isHeaderAboveImage ? .string("ABOVE_IMAGE") : nil),
                (
                    "bulletPoints",
                    bulletPoints.isEmpty
                        ? nil
                        : .list(
                            bulletPoints.map {
                                .object([("text", .string($0.text))] + $0.image.members)
                            }
                        )
                ),
            ])
        }
    }

    /// The place of an image.
    public struct ImageSize: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public static let fullSize = Self(rawValue: "FULL_SIZE")
        public static let bulletPoint = Self(rawValue: "BULLET_POINT")
    }

    /// Apple's review of an image or a message: an approved one is shown.
    public struct RetentionState: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// An uploaded image.
    public struct RetentionImage: Hashable, Sendable {
        public let imageIdentifier: UUID?
        public let state: RetentionState?
        public let size: ImageSize?

        init(_ fields: Fields) throws(VerificationError) {
            imageIdentifier = try fields.uuid("imageIdentifier")
            state = try fields.value("imageState")
            size = try fields.value("imageSize")
        }
    }

    /// An uploaded message.
    public struct UploadedRetentionMessage: Hashable, Sendable {
        public let messageIdentifier: UUID?
        public let state: RetentionState?

        init(_ fields: Fields) throws(VerificationError) {
            messageIdentifier = try fields.uuid("messageIdentifier")
            state = try fields.value("messageState")
        }
    }
}
