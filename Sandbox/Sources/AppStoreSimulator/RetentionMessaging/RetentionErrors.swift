/// The errors of the Retention Messaging API
/// (<https://developer.apple.com/documentation/retentionmessaging/error-codes>).
///
/// Apple's library states the codes. The pages of some errors quote their `errorMessage`, which begins
/// with "Invalid request."; the other sentences here are Apple's descriptions.
extension APIError {
    static let invalidImage = Self(4_000_161, "Invalid request. The image is invalid.")
    static let headerTooLong = Self(4_000_162, "The header text is too long.")
    static let bodyTooLong = Self(4_000_163, "The body text is too long.")
    static let invalidLocale = Self(4_000_164, "Invalid request. Locale is invalid.")
    static let altTextTooLong = Self(
        4_000_175,
        "The alternative text for an image is too long."
    )
    static let invalidPerformanceTestRequest = Self(
        4_000_211,
        "The performance test request is invalid."
    )
    static let invalidRequestID = Self(4_000_212, "The request ID is invalid.")
    static let existingPerformanceTestRun = Self(
        4_000_213,
        "Invalid request. Existing performance test run."
    )
    static let badRequestRealtimeURL = Self(4_000_215, "Invalid request. The url is invalid.")
    static let badRequestImageSize = Self(
        4_000_216,
        "Invalid request. The image's size is invalid."
    )
    static let tooManyBulletPoints = Self(
        4_000_218,
        "Invalid request. The number of bullet points is too many."
    )
    static let bulletPointTextTooLong = Self(
        4_000_219,
        "The text for a bullet point is too long."
    )
    static let aboveImageRequiresAnImage = Self(
        4_000_224,
        "No image object is included, but the header should be placed above the image."
    )
    static let maximumNumberOfImagesReached = Self(
        4_030_014,
        "The maximum number of uploaded images is reached."
    )
    static let maximumNumberOfMessagesReached = Self(
        4_030_016,
        "The maximum number of uploaded messages is reached."
    )
    static let messageNotApproved = Self(
        4_030_017,
        "The message isn't in the approved state, so you can't configure it as a default message."
    )
    static let imageNotApproved = Self(
        4_030_018,
        "The image isn't in the approved state, so you can't configure it as part of a default message."
    )
    static let imageInUse = Self(
        4_030_019,
        "The image is currently in use as part of a message, so you can't delete it."
    )
    static let noPassingTest = Self(
        4_030_026,
        "Passing a performance test is required before you can set a URL for the production environment."
    )
    static let imageNotFound = Self(4_040_014, "The system can't find the image identifier.")
    static let messageNotFound = Self(
        4_040_015,
        "The system can't find the message identifier."
    )
    static let performanceTestRunNotFound = Self(
        4_040_018,
        "The service can't find the specified test run."
    )
    static let defaultMessageNotFound = Self(4_040_020, "A default message isn't configured.")
    static let realtimeURLNotFound = Self(
        4_040_021,
        "The URL for your endpoint isn't configured."
    )
    static let imageAlreadyExists = Self(4_090_000, "The image identifier already exists.")
    static let messageAlreadyExists = Self(4_090_001, "The message identifier already exists.")
}
