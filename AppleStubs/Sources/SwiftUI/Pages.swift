// What a screen looks like, as a page for a browser: stacks, fonts and colours of iOS, no layout of its own.

extension _Env {
    /// The page of a screen that is drawn with this environment.
    @MainActor public func _page(of screen: _Node, title: String) -> String {
        let isRightToLeft = values.layoutDirection == .rightToLeft
        return """
            <!doctype html><html lang="\(values.locale.identifier.prefix(2))" \
            dir="\(isRightToLeft ? "rtl" : "ltr")"><meta charset="utf-8">
            <meta name="viewport" content="width=device-width"><title>\(title)</title>
            <style>
            :root { \(colours); \(fonts); }
            body { margin: 0; padding: 16px; background: var(--screen); }
            .VStack, .List, .ScrollView { display: flex; flex-direction: column; align-items: center; gap: 8px; }
            .HStack { display: flex; align-items: center; justify-content: center; gap: 8px; }
            .List { align-items: stretch; text-align: start; }
            .Text { text-align: center; align-content: center; overflow-wrap: anywhere; }
            button { all: unset; display: flex; justify-content: center; align-items: center; }
            button[disabled] { opacity: 0.35; }
            .ProgressView { width: 20px; height: 20px; border: 3px solid var(--secondary); border-radius: 50%; }
            </style>
            \(screen.html)
            """
    }

    /// Apple's system colours.
    private var colours: String {
        let isDark = values.colorScheme == .dark
        return [
            ("screen", "#fff", "#000"), ("primary", "#000", "#fff"),
            ("secondary", "#3c3c4399", "#ebebf599"), ("accent", "#007aff", "#0a84ff"),
            ("red", "#ff3b30", "#ff453a"), ("white", "#fff", "#fff"), ("black", "#000", "#000"),
            ("clear", "transparent", "transparent"),
        ].map { "--\($0): \(isDark ? $2 : $1)" }.joined(separator: "; ")
    }

    /// Text styles in the usual size and in the largest one (AX5), in points.
    ///
    /// <https://developer.apple.com/design/human-interface-guidelines/typography#Specifications>
    private var fonts: String {
        let isLargest = values.dynamicTypeSize == .accessibility5
        return [
            ("title", 400, 28, 58), ("headline", 600, 17, 53), ("body", 400, 17, 53),
            ("caption", 400, 12, 43),
        ].map { "--\($0): \($1) \(isLargest ? $3 : $2)px/1.25 system-ui, sans-serif" }
            .joined(separator: "; ")
    }
}

extension _Node {
    /// The view and what is in it.
    fileprivate var html: String {
        let inside = children.map(\.html).joined()
        switch kind {
        case "Empty": return ""
        case "Group", "ForEach": return inside
        case "Text": return element("div", escaped(text ?? ""))
        case "Button": return element("button" + (disabled ? " disabled" : ""), inside)
        default: return element("div", inside)
        }
    }

    private func element(_ tag: String, _ inside: String) -> String {
        let name = tag.prefix { $0 != " " }
        return "<\(tag) class=\"\(kind)\" style=\"\(css.joined(separator: "; "))\"\(label)>"
            + inside + "</\(name)>"
    }

    /// The label that VoiceOver reads in place of the text.
    private var label: String {
        let mark = "accessibilityLabel("
        guard let said = modifiers.last(where: { $0.hasPrefix(mark) }) else { return "" }
        return " aria-label=\"\(escaped(String(said.dropFirst(mark.count).dropLast())))\""
    }

    private func escaped(_ text: String) -> String {
        text.replacingOccurrences(of: "&", with: "&amp;")
            .replacingOccurrences(of: "<", with: "&lt;")
            .replacingOccurrences(of: "\"", with: "&quot;")
    }
}
