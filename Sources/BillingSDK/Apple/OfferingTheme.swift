#if canImport(SwiftUI)
    import SwiftUI

    /// Colours and fonts of ``OfferingView``; what is left out follows the system.
    public struct OfferingTheme: Sendable {
        /// Of the title.
        public var titleFont: Font
        /// Of a product's name.
        public var productFont: Font
        /// Of everything that is read once: renewal, terms, privacy.
        public var captionFont: Font
        /// Of what can be pressed; `nil`: the system's accent colour.
        public var tint: Color?
        /// Behind each product; `nil`: nothing.
        public var productBackground: Color?
        /// Of the corners behind each product.
        public var cornerRadius: CGFloat

        /// A theme; Dynamic Type scales fonts that are text styles.
        public init(
            titleFont: Font = .title,
            productFont: Font = .headline,
            captionFont: Font = .caption,
            tint: Color? = nil,
            productBackground: Color? = nil,
            cornerRadius: CGFloat = 12
        ) {
            self.titleFont = titleFont
            self.productFont = productFont
            self.captionFont = captionFont
            self.tint = tint
            self.productBackground = productBackground
            self.cornerRadius = cornerRadius
        }
    }
#endif
