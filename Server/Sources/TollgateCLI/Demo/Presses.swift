/// The buttons that were pressed on pages that the demo has shown.
///
/// A page carries a mark of its own. The second press of one button on one page is a double click:
/// it does nothing and leads where the first one leads.
actor Presses {
    private var targets: [String: Task<String, Never>] = [:]
    private var order: [String] = []
    private static let remembered = 200

    /// Where the press leads.
    ///
    /// - Parameters:
    ///   - press: the page's mark and the button; empty for a press without a page, always done.
    ///   - act: what the button does.
    func target(of press: String, act: @escaping @Sendable () async -> String) async -> String {
        guard !press.isEmpty else { return await act() }
        if let earlier = targets[press] { return await earlier.value }
        let target = Task { await act() }
        targets[press] = target
        order.append(press)
        if order.count > Self.remembered { targets[order.removeFirst()] = nil }
        return await target.value
    }
}
