// Minimal stand-in for SwiftUI: the documented declarations the SDK and its guide use, plus a tiny
// renderer (`_Stub.render`) so that tests can look at a body and press its buttons.
@_exported import Combine
#if canImport(UIKit)
    @_exported import UIKit
#else
    @_exported import AppKit
#endif

// MARK: View + builder

@MainActor @preconcurrency
public protocol View {
    associatedtype Body: View
    @ViewBuilder @MainActor @preconcurrency var body: Body { get }
}

extension Never: View { public var body: Never { fatalError() } }

/// Stub-only: views the renderer understands by itself.
@MainActor @preconcurrency public protocol _Primitive: View where Body == Never {
    func _node(_ env: _Env) -> _Node
}
extension _Primitive { public var body: Never { fatalError("primitive") } }

@resultBuilder public enum ViewBuilder {
    public static func buildExpression<Content: View>(_ content: Content) -> Content { content }
    public static func buildBlock() -> EmptyView { EmptyView() }
    public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
    public static func buildBlock<each Content: View>(_ content: repeat each Content) -> TupleView<
        (repeat each Content)
    > {
        var makers: [@MainActor (_Env) -> _Node] = []
        for c in repeat each content { makers.append { _Stub.render(c, $0) } }
        return TupleView((repeat each content), makers)
    }
    public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
    public static func buildEither<T: View, F: View>(first: T) -> _ConditionalContent<T, F> {
        .init(.first(first))
    }
    public static func buildEither<T: View, F: View>(second: F) -> _ConditionalContent<T, F> {
        .init(.second(second))
    }
    public static func buildLimitedAvailability<Content: View>(_ content: Content) -> AnyView {
        AnyView(content)
    }
}

public struct TupleView<T>: View, _Primitive {
    public var value: T
    let makers: [@MainActor (_Env) -> _Node]
    init(_ value: T, _ makers: [@MainActor (_Env) -> _Node]) {
        self.value = value; self.makers = makers
    }
    public func _node(_ env: _Env) -> _Node {
        _Node("Group", children: makers.enumerated().map { $1(env.inside("#\($0)")) })
    }
}
public struct _ConditionalContent<T: View, F: View>: View, _Primitive {
    enum Storage { case first(T), second(F) }
    let storage: Storage
    init(_ s: Storage) { storage = s }
    public func _node(_ env: _Env) -> _Node {
        switch storage {
        case .first(let v): _Stub.render(v, env.inside("?1"))
        case .second(let v): _Stub.render(v, env.inside("?2"))
        }
    }
}
extension Optional: View where Wrapped: View { public var body: Never { fatalError() } }
extension Optional: _Primitive where Wrapped: View {
    public func _node(_ env: _Env) -> _Node { map { _Stub.render($0, env) } ?? _Node("Empty") }
}
public struct EmptyView: View, _Primitive {
    public init() {}
    public func _node(_ env: _Env) -> _Node { _Node("Empty") }
}
public struct AnyView: View, _Primitive {
    let make: @MainActor (_Env) -> _Node
    public init<V: View>(_ view: V) { make = { _Stub.render(view, $0) } }
    public func _node(_ env: _Env) -> _Node { make(env) }
}

// MARK: Values

public struct LocalizedStringKey: ExpressibleByStringInterpolation, Equatable {
    let s: String
    public init(_ value: String) { s = value }
    public init(stringLiteral value: String) { s = value }
}
public struct Color: View, _Primitive, Sendable, Hashable {
    let name: String
    public static let red = Color(name: "red"), primary = Color(name: "primary"),
        secondary = Color(name: "secondary")
    public static let accentColor = Color(name: "accent"), white = Color(name: "white"),
        black = Color(name: "black"), clear = Color(name: "clear")
    public func _node(_ env: _Env) -> _Node { _Node("Color", text: name) }
}
public struct Font: Hashable, Sendable {
    let n: String
    public static let headline = Font(n: "headline"), body = Font(n: "body"),
        caption = Font(n: "caption"), title = Font(n: "title")
}
public enum Edge: Int8, CaseIterable, Sendable {
    case top, leading, bottom, trailing
    public struct Set: OptionSet, Sendable {
        public let rawValue: Int8
        public init(rawValue: Int8) { self.rawValue = rawValue }
        public static let top = Set(rawValue: 1), leading = Set(rawValue: 2),
            bottom = Set(rawValue: 4), trailing = Set(rawValue: 8)
        public static let all: Set = [.top, .leading, .bottom, .trailing],
            horizontal: Set = [.leading, .trailing], vertical: Set = [.top, .bottom]
    }
}
public enum ColorScheme: CaseIterable, Sendable { case light, dark }
public enum LayoutDirection: CaseIterable, Sendable { case leftToRight, rightToLeft }
public enum DynamicTypeSize: Hashable, Comparable, CaseIterable, Sendable {
    case xSmall, small, medium, large, xLarge, xxLarge, xxxLarge
    case accessibility1, accessibility2, accessibility3, accessibility4, accessibility5
    public var isAccessibilitySize: Bool { self >= .accessibility1 }
}
public struct HorizontalAlignment: Sendable {
    public static let leading = Self(), center = Self(), trailing = Self()
}
public struct VerticalAlignment: Sendable {
    public static let top = Self(), center = Self(), bottom = Self()
}
public struct Alignment: Sendable {
    public static let center = Self(), leading = Self(), trailing = Self()
}
/// Exists on Apple too: `Transaction` is ambiguous in a file importing SwiftUI and StoreKit.
public struct Transaction { public init() {} }

public struct Text: View, _Primitive {
    let s: String
    public init(_ key: LocalizedStringKey) { s = key.s }
    @_disfavoredOverload public init<S: StringProtocol>(_ content: S) { s = String(content) }
    public init(verbatim: String) { s = verbatim }
    public init(
        _ key: LocalizedStringKey,
        tableName: String? = nil,
        bundle: Bundle?,
        comment: StaticString? = nil
    ) { s = (bundle ?? .main).localizedString(forKey: key.s, value: nil, table: tableName) }
    var color: Color?
    public func bold() -> Text { self }
    public func foregroundColor(_ color: Color?) -> Text {
        var text = self; text.color = color; return text
    }
    var ownFont: Font?
    public func font(_ font: Font?) -> Text {
        var text = self; text.ownFont = font; return text
    }
    public func _node(_ env: _Env) -> _Node {
        let node = _Node("Text", text: s)
        node.css = [
            "font: var(--\((ownFont ?? env.font).n))",
            "color: var(--\((color ?? env.foreground).name))",
        ]
        node.contrast = env.contrast(of: color ?? env.foreground)
        node.isInButton = env.isInButton
        return node
    }
}
public struct ProgressView<Label: View>: View, _Primitive {
    let label: Label?
    public func _node(_ env: _Env) -> _Node {
        _Node("ProgressView", children: label.map { [_Stub.render($0, env)] } ?? [])
    }
}
extension ProgressView where Label == EmptyView { public init() { label = nil } }
extension ProgressView where Label == Text {
    public init(_ key: LocalizedStringKey) { label = Text(key) }
}

public struct ButtonRole: Equatable, Sendable {
    public static let cancel = Self(), destructive = Self()
}
public struct Button<Label: View>: View, _Primitive {
    let action: @MainActor () -> Void
    let label: Label
    public init(action: @escaping @MainActor () -> Void, @ViewBuilder label: () -> Label) {
        self.action = action; self.label = label()
    }
    public func _node(_ env: _Env) -> _Node {
        var inside = env
        inside.foreground = .accentColor
        inside.isInButton = true
        return _Node("Button", children: [_Stub.render(label, inside)], action: action)
    }
}
extension Button where Label == Text {
    public init(_ key: LocalizedStringKey, action: @escaping @MainActor () -> Void) {
        self.init(action: action) { Text(key) }
    }
    @_disfavoredOverload public init<S: StringProtocol>(
        _ title: S,
        action: @escaping @MainActor () -> Void
    ) { self.init(action: action) { Text(title) } }
    public init(
        _ key: LocalizedStringKey,
        role: ButtonRole?,
        action: @escaping @MainActor () -> Void
    ) { self.init(action: action) { Text(key) } }
}
public struct VStack<Content: View>: View, _Primitive {
    let c: Content
    public init(
        alignment: HorizontalAlignment = .center,
        spacing: CGFloat? = nil,
        @ViewBuilder content: () -> Content
    ) { c = content() }
    public func _node(_ env: _Env) -> _Node { _Node("VStack", children: [_Stub.render(c, env)]) }
}
public struct HStack<Content: View>: View, _Primitive {
    let c: Content
    public init(
        alignment: VerticalAlignment = .center,
        spacing: CGFloat? = nil,
        @ViewBuilder content: () -> Content
    ) { c = content() }
    public func _node(_ env: _Env) -> _Node {
        let node = _Node("HStack", children: [_Stub.render(c, env)])
        let isMirrored = env.values.layoutDirection == .rightToLeft
        let row = node.children.flatMap { $0.kind == "Group" ? $0.children : [$0] }
        node.leftToRight = isMirrored ? row.reversed() : row
        return node
    }
}
public struct Group<Content: View>: View, _Primitive {
    let c: Content
    public init(@ViewBuilder content: () -> Content) { c = content() }
    public func _node(_ env: _Env) -> _Node { _Stub.render(c, env) }
}
public struct ForEach<Data: RandomAccessCollection, ID: Hashable, Content: View>: View, _Primitive {
    let data: Data; let content: (Data.Element) -> Content
    public func _node(_ env: _Env) -> _Node {
        _Node(
            "ForEach",
            children: data.enumerated().map {
                _Stub.render(content($1), env.inside("#\($0)"))
            }
        )
    }
}
extension ForEach where Data.Element: Identifiable, ID == Data.Element.ID {
    public init(_ data: Data, @ViewBuilder content: @escaping (Data.Element) -> Content) {
        self.data = data; self.content = content
    }
}

// MARK: Modifiers

public struct _Modified<Content: View>: View, _Primitive {
    let content: Content
    let name: String
    let change: @MainActor (inout _Env) -> Void
    let after: @MainActor (_Node) -> Void
    var task: (id: String, action: @MainActor @Sendable () async -> Void)?
    public func _node(_ env: _Env) -> _Node {
        var e = env
        change(&e)
        let n = _Stub.render(content, e)
        n.modifiers.append(name)
        after(n)
        // As in SwiftUI, a group hands its modifiers to each view in it, and to none where it is empty.
        for view in task == nil ? [] : n.resolved {
            guard let task else { continue }
            view.task = task.action
            view.tasks.append(("\(env.path)>\(view.path ?? "")>\(task.id)", task.action))
        }
        return n
    }
}
extension View {
    nonisolated func _mod(
        _ name: String,
        change: @escaping @MainActor (inout _Env) -> Void = { _ in },
        after: @escaping @MainActor (_Node) -> Void = { _ in }
    ) -> _Modified<Self> {
        _Modified(content: self, name: name, change: change, after: after)
    }
    nonisolated public func frame(
        width: CGFloat? = nil,
        height: CGFloat? = nil,
        alignment: Alignment = .center
    ) -> some View {
        _mod("frame") { _ in
        } after: { node in
            if let width { node.css.append("width: \(width)px") }
            if let height { node.css.append("height: \(height)px") }
        }
    }
    nonisolated public func frame(
        minWidth: CGFloat? = nil,
        idealWidth: CGFloat? = nil,
        maxWidth: CGFloat? = nil,
        minHeight: CGFloat? = nil,
        idealHeight: CGFloat? = nil,
        maxHeight: CGFloat? = nil,
        alignment: Alignment = .center
    ) -> some View {
        _mod(maxHeight == nil ? "frame" : "frame(maxHeight)") { _ in
        } after: { node in
            if let minWidth { node.css.append("min-width: \(minWidth)px") }
            if let minHeight { node.css.append("min-height: \(minHeight)px") }
        }
    }
    nonisolated public func padding(_ edges: Edge.Set = .all, _ length: CGFloat? = nil) -> some View
    { _mod("padding", after: { $0.css.append("padding: \(length ?? 16)px") }) }
    nonisolated public func foregroundColor(_ color: Color?) -> some View {
        _mod("foregroundColor", change: { $0.foreground = color ?? .primary })
    }
    nonisolated public func background<B: View>(_ background: B) -> some View {
        let color = background as? Color
        return _mod(
            "background",
            change: { if let color { $0.background = color } },
            after: { if let color { $0.css.append("background: var(--\(color.name))") } }
        )
    }
    nonisolated public func cornerRadius(_ radius: CGFloat) -> some View {
        _mod("cornerRadius", after: { $0.css.append("border-radius: \(radius)px") })
    }
    nonisolated public func disabled(_ disabled: Bool) -> some View {
        _mod("disabled(\(disabled))") { _ in
        } after: {
            $0.disabled = disabled
        }
    }
    nonisolated public func accessibilityLabel(_ label: Text) -> some View {
        _mod("accessibilityLabel(\(label.s))")
    }
    nonisolated public func accessibilityHint(_ hint: Text) -> some View {
        _mod("accessibilityHint(\(hint.s))")
    }
    nonisolated public func accessibilityElement(children: AccessibilityChildBehavior = .ignore)
        -> some View
    { _mod("accessibilityElement") }
    nonisolated public func font(_ font: Font?) -> some View {
        _mod("font", change: { $0.font = font ?? .body })
    }
    nonisolated public func multilineTextAlignment(_ alignment: TextAlignment) -> some View {
        _mod("multilineTextAlignment")
    }
    nonisolated public func lineLimit(_ number: Int?) -> some View { _mod("lineLimit") }
    nonisolated public func fixedSize(horizontal: Bool, vertical: Bool) -> some View {
        _mod("fixedSize(\(horizontal),\(vertical))")
    }
    nonisolated public func navigationTitle(_ key: LocalizedStringKey) -> some View {
        _mod("navigationTitle")
    }
    @available(iOS 15, macOS 12, *)
    nonisolated public func foregroundStyle<S: ShapeStyle>(_ style: S) -> some View {
        _mod("foregroundStyle")
    }
    nonisolated public func alert(
        _ title: LocalizedStringKey,
        isPresented: Binding<Bool>,
        @ViewBuilder actions: () -> some View
    ) -> some View { _mod("alert") }
    nonisolated public func onChange<V: Equatable>(
        of value: V,
        perform action: @escaping (V) -> Void
    ) -> some View { _mod("onChange") }
    nonisolated public func ignoresSafeArea() -> some View { _mod("ignoresSafeArea") }
    nonisolated public func accessibilityIdentifier(_ identifier: String) -> some View {
        _mod("id:" + identifier)
    }
    nonisolated public func onAppear(perform action: (@MainActor () -> Void)? = nil) -> some View {
        _mod("onAppear", after: { $0.onAppear = action })
    }
    nonisolated public func onDisappear(perform action: (@MainActor () -> Void)? = nil) -> some View
    { _mod("onDisappear") }
    nonisolated public func onOpenURL(perform action: @escaping @MainActor (URL) -> Void)
        -> some View
    { _mod("onOpenURL", after: { $0.onOpenURL = action }) }
    nonisolated public func task(
        priority: TaskPriority = .userInitiated,
        _ action: @escaping @MainActor @Sendable () async -> Void
    ) -> some View {
        task(id: 0, priority: priority, action)
    }
    nonisolated public func task<T: Equatable>(
        id value: T,
        priority: TaskPriority = .userInitiated,
        _ action: @escaping @MainActor @Sendable () async -> Void
    ) -> some View {
        var modified = _mod("task")
        modified.task = ("\(value)", action)
        return modified
    }
    /// Another id is another view: state and tasks begin anew.
    nonisolated public func id<ID: Hashable>(_ id: ID) -> some View {
        _mod("id", change: { $0.path += "=\(id)" })
    }
    nonisolated public func environmentObject<T: ObservableObject>(_ object: T) -> some View {
        _mod("environmentObject", change: { $0.objects[ObjectIdentifier(T.self)] = object })
    }
    nonisolated public func environment<V>(
        _ keyPath: WritableKeyPath<EnvironmentValues, V>,
        _ value: V
    ) -> some View {
        _mod("environment", change: { $0.values[keyPath: keyPath] = value })
    }
    nonisolated public func sheet<C: View>(
        isPresented: Binding<Bool>,
        onDismiss: (() -> Void)? = nil,
        @ViewBuilder content: @escaping () -> C
    ) -> some View {
        _mod(
            "sheet",
            after: { node in
                guard isPresented.wrappedValue else { return }
                // One sheet, however often one looks at it.
                let view = content()
                node.sheet = { _Stub.render(view) }
                node.dismissSheet = {
                    isPresented.wrappedValue = false
                    onDismiss?()
                }
            }
        )
    }
}

public struct AccessibilityChildBehavior: Sendable {
    public static let ignore = Self(), combine = Self(), contain = Self()
}
public enum TextAlignment: Sendable { case leading, center, trailing }
public protocol ShapeStyle {}
extension Color: ShapeStyle {}
public struct HierarchicalShapeStyle: ShapeStyle { public init() {} }
extension ShapeStyle where Self == HierarchicalShapeStyle {
    public static var secondary: HierarchicalShapeStyle { .init() }
    public static var primary: HierarchicalShapeStyle { .init() }
}

public struct Label<Title: View, Icon: View>: View, _Primitive {
    let title: Title, icon: Icon
    public init(@ViewBuilder title: () -> Title, @ViewBuilder icon: () -> Icon) {
        self.title = title(); self.icon = icon()
    }
    public func _node(_ env: _Env) -> _Node {
        _Node("Label", children: [_Stub.render(title, env), _Stub.render(icon, env)])
    }
}
extension Label where Title == Text, Icon == Image {
    public init(_ key: LocalizedStringKey, systemImage name: String) {
        self.init(title: { Text(key) }, icon: { Image(systemName: name) })
    }
}
public struct Image: View, _Primitive {
    let name: String
    public init(systemName: String) { name = systemName }
    public func _node(_ env: _Env) -> _Node { _Node("Image", text: name) }
}
public struct Spacer: View, _Primitive {
    public init(minLength: CGFloat? = nil) {}
    public func _node(_ env: _Env) -> _Node { _Node("Spacer") }
}
public struct List<Content: View>: View, _Primitive {
    let c: Content
    public init(@ViewBuilder content: () -> Content) { c = content() }
    public func _node(_ env: _Env) -> _Node { _Node("List", children: [_Stub.render(c, env)]) }
}
public struct Section<Header: View, Content: View>: View, _Primitive {
    let h: Header, c: Content
    public init(@ViewBuilder content: () -> Content, @ViewBuilder header: () -> Header) {
        h = header(); c = content()
    }
    public func _node(_ env: _Env) -> _Node {
        _Node("Section", children: [_Stub.render(h, env), _Stub.render(c, env)])
    }
}
extension Section where Header == Text {
    public init(_ key: LocalizedStringKey, @ViewBuilder content: () -> Content) {
        self.init(content: content, header: { Text(key) })
    }
}
public struct NavigationView<Content: View>: View, _Primitive {
    let c: Content
    public init(@ViewBuilder content: () -> Content) { c = content() }
    public func _node(_ env: _Env) -> _Node {
        _Node("NavigationView", children: [_Stub.render(c, env)])
    }
}
public struct TextField<Label: View>: View, _Primitive {
    let label: Label, text: Binding<String>
    public func _node(_ env: _Env) -> _Node {
        _Node("TextField", text: text.wrappedValue, children: [_Stub.render(label, env)])
    }
}
extension TextField where Label == Text {
    public init(_ key: LocalizedStringKey, text: Binding<String>) {
        label = Text(key); self.text = text
    }
}
public struct Toggle<Label: View>: View, _Primitive {
    let label: Label, isOn: Binding<Bool>
    public func _node(_ env: _Env) -> _Node {
        _Node("Toggle", children: [_Stub.render(label, env)])
    }
}
extension Toggle where Label == Text {
    public init(_ key: LocalizedStringKey, isOn: Binding<Bool>) {
        label = Text(key); self.isOn = isOn
    }
}
public struct Link<Label: View>: View, _Primitive {
    let label: Label
    public let destination: URL
    public func _node(_ env: _Env) -> _Node { _Node("Link", children: [_Stub.render(label, env)]) }
}
extension Link where Label == Text {
    public init(_ key: LocalizedStringKey, destination: URL) {
        label = Text(key); self.destination = destination
    }
}

// MARK: The app

@MainActor @preconcurrency public protocol Scene {
    associatedtype Body: Scene
    @SceneBuilder @MainActor @preconcurrency var body: Body { get }
}
extension Never: Scene {}
@resultBuilder public enum SceneBuilder {
    public static func buildBlock<Content: Scene>(_ content: Content) -> Content { content }
}
public struct WindowGroup<Content: View>: Scene {
    public let _content: Content
    public init(@ViewBuilder content: () -> Content) { _content = content() }
    public var body: Never { fatalError("primitive") }
}
@MainActor @preconcurrency public protocol App {
    associatedtype Body: Scene
    @SceneBuilder @MainActor @preconcurrency var body: Body { get }
    init()
}
extension App { public static func main() {} }

#if canImport(UIKit)
    @MainActor @preconcurrency
    public struct UIViewControllerRepresentableContext<
        Representable: UIViewControllerRepresentable
    > {
        public let coordinator: Representable.Coordinator
    }
    @MainActor @preconcurrency
    public protocol UIViewControllerRepresentable: View, _Primitive where Body == Never {
        associatedtype UIViewControllerType: UIViewController
        associatedtype Coordinator = Void
        func makeCoordinator() -> Coordinator
        typealias Context = UIViewControllerRepresentableContext<Self>
        func makeUIViewController(context: Context) -> UIViewControllerType
        func updateUIViewController(_ uiViewController: UIViewControllerType, context: Context)
    }
    extension UIViewControllerRepresentable where Coordinator == Void {
        public func makeCoordinator() {}
    }
    /// A controller and its coordinator, which live as long as their place on the screen.
    private final class Represented {
        let controller: AnyObject, coordinator: Any
        init(_ controller: AnyObject, _ coordinator: Any) {
            self.controller = controller; self.coordinator = coordinator
        }
    }
    extension UIViewControllerRepresentable {
        public func _node(_ env: _Env) -> _Node {
            let node = _Node("UIViewController")
            let make = {
                let coordinator = makeCoordinator()
                let controller = makeUIViewController(context: .init(coordinator: coordinator))
                return Represented(controller, coordinator)
            }
            let kept = env.kept?.value(at: env.path, orMake: make) ?? make()
            node.controller = kept.controller
            node.coordinator = kept.coordinator
            return node
        }
    }
#endif

// MARK: Property wrappers

public protocol DynamicProperty { mutating func update() }
extension DynamicProperty { public mutating func update() {} }
@MainActor public protocol _Bindable_ { func _bind(_ env: _Env) }

@propertyWrapper public struct State<Value>: DynamicProperty {
    final class Storage { var value: Value; init(_ v: Value) { value = v } }
    final class Box {
        var storage: Storage
        init(_ v: Value) { storage = Storage(v) }
        var value: Value {
            get { storage.value }
            set { storage.value = newValue }
        }
    }
    let box: Box
    public init(wrappedValue: Value) { box = Box(wrappedValue) }
    public init(initialValue: Value) { box = Box(initialValue) }
    public var wrappedValue: Value {
        get { box.value }
        nonmutating set { box.value = newValue }
    }
    public var projectedValue: Binding<Value> {
        let b = box; return Binding(get: { b.value }, set: { b.value = $0 })
    }
}
extension State: _Bindable_ {
    /// Where a host keeps what belongs to this place of the screen, it is that.
    public func _bind(_ env: _Env) {
        guard let kept = env.kept else { return }
        box.storage = kept.value(at: "\(env.path).\(env.property)", or: box.storage)
    }
}
extension State where Value: ExpressibleByNilLiteral {
    public init() { self.init(wrappedValue: nil) }
}

@propertyWrapper public struct Binding<Value>: DynamicProperty {
    let get: () -> Value, set: (Value) -> Void
    public init(get: @escaping () -> Value, set: @escaping (Value) -> Void) {
        self.get = get; self.set = set
    }
    public static func constant(_ value: Value) -> Binding {
        Binding(get: { value }, set: { _ in })
    }
    public var wrappedValue: Value {
        get { get() }
        nonmutating set { set(newValue) }
    }
    public var projectedValue: Binding { self }
}

@MainActor @propertyWrapper @preconcurrency
public struct EnvironmentObject<ObjectType: ObservableObject>: DynamicProperty {
    final class Box { var object: ObjectType? }
    let box = Box()
    nonisolated public init() {}
    public var wrappedValue: ObjectType {
        guard let o = box.object else {
            fatalError("No ObservableObject of type \(ObjectType.self) found.")
        }
        return o
    }
}
extension EnvironmentObject: _Bindable_ {
    public func _bind(_ env: _Env) {
        box.object = env.objects[ObjectIdentifier(ObjectType.self)] as? ObjectType
    }
}
@MainActor @propertyWrapper @preconcurrency
public struct ObservedObject<ObjectType: ObservableObject>: DynamicProperty {
    nonisolated(unsafe) public var wrappedValue: ObjectType
    nonisolated public init(wrappedValue: ObjectType) { self.wrappedValue = wrappedValue }

    @MainActor @preconcurrency @dynamicMemberLookup public struct Wrapper {
        let object: ObjectType
        public subscript<Subject>(
            dynamicMember keyPath: ReferenceWritableKeyPath<ObjectType, Subject>
        ) -> Binding<Subject> {
            let object = object
            return Binding(
                get: { object[keyPath: keyPath] },
                set: { object[keyPath: keyPath] = $0 }
            )
        }
    }
    public var projectedValue: Wrapper { Wrapper(object: wrappedValue) }
}
@MainActor @propertyWrapper @preconcurrency
public struct StateObject<ObjectType: ObservableObject>: DynamicProperty {
    final class Box {
        let make: () -> ObjectType; lazy var v = make();
        init(_ m: @escaping () -> ObjectType) { make = m }
    }
    nonisolated(unsafe) let box: Box
    nonisolated public init(wrappedValue: @autoclosure @escaping () -> ObjectType) {
        box = Box(wrappedValue)
    }
    public var wrappedValue: ObjectType { box.v }
}
@propertyWrapper public struct Environment<Value>: DynamicProperty {
    final class Box { var value: Value?; init() {} }
    let keyPath: KeyPath<EnvironmentValues, Value>
    let box = Box()
    public init(_ keyPath: KeyPath<EnvironmentValues, Value>) { self.keyPath = keyPath }
    public var wrappedValue: Value { box.value ?? EnvironmentValues()[keyPath: keyPath] }
}
extension Environment: _Bindable_ {
    public func _bind(_ env: _Env) { box.value = env.values[keyPath: keyPath] }
}

@MainActor @preconcurrency public struct OpenURLAction: Sendable {
    public struct Result: Sendable {
        let h: Bool;
        public static let handled = Result(h: true), discarded = Result(h: false),
            systemAction = Result(h: true)
    }
    nonisolated(unsafe) let handler: @MainActor (URL) -> Result
    nonisolated public init(handler: @escaping @MainActor (URL) -> Result) {
        self.handler = handler
    }
    public func callAsFunction(_ url: URL) { _ = handler(url) }
}
public struct EnvironmentValues {
    public init() {}
    #if canImport(UIKit)
        public var openURL = OpenURLAction {
            UIApplication.shared.open($0); return .systemAction
        }
    #else
        public var openURL = OpenURLAction {
            NSWorkspace.shared.open($0); return .systemAction
        }
    #endif
    public var locale = Locale(identifier: "ja_JP")
    public var colorScheme = ColorScheme.light
    public var layoutDirection = LayoutDirection.leftToRight
    public var dynamicTypeSize = DynamicTypeSize.large
}

// MARK: Stub renderer

public struct _Env {
    public var objects: [ObjectIdentifier: AnyObject] = [:]
    public var values = EnvironmentValues()
    var foreground = Color.primary
    var font = Font.body
    /// What is behind, `nil` for the screen's own.
    var background: Color?
    var isInButton = false
    /// Which view of the screen this is: what SwiftUI calls its structural identity.
    var path = ""
    /// The number of the property that is bound.
    var property = 0
    /// What a host keeps for each place.
    var kept: _Kept?
    public init() {}

    func inside(_ step: String) -> _Env {
        var env = self
        env.path += step
        return env
    }

    /// The contrast after WCAG 2.2 (1 to 21) with which a colour is seen on what is behind it.
    ///
    /// A system colour has one value in light mode and one in dark; the others have one.
    func contrast(of color: Color) -> Double {
        let isDark = values.colorScheme == .dark
        let light = { (color: Color) -> Double in
            switch color.name {
            case "black": 0
            case "white": 1
            case "primary": isDark ? 1 : 0
            // secondaryLabel, laid over the screen's own background.
            case "secondary": isDark ? 0.302 : 0.254
            // systemBlue and systemRed.
            case "accent": isDark ? 0.239 : 0.211
            case "red": isDark ? 0.242 : 0.235
            default: isDark ? 0 : 1
            }
        }
        let (front, back) = (light(color), background.map(light) ?? (isDark ? 0 : 1))
        return (max(front, back) + 0.05) / (min(front, back) + 0.05)
    }
}
/// State by place; what is not on the screen any more is forgotten, as in SwiftUI.
@MainActor public final class _Kept {
    private var values: [String: AnyObject] = [:]
    private var seen: Set<String> = []
    nonisolated init() {}
    func value<V: AnyObject>(at place: String, or first: V) -> V {
        seen.insert(place)
        if let value = values[place] as? V { return value }
        values[place] = first
        return first
    }
    func value<V: AnyObject>(at place: String, orMake make: () -> V) -> V {
        seen.insert(place)
        if let value = values[place] as? V { return value }
        let value = make()
        values[place] = value
        return value
    }
    func render<V: View>(_ view: V, _ env: _Env) -> _Node {
        seen = []
        var env = env
        env.kept = self
        let node = _Stub.render(view, env)
        values = values.filter { seen.contains($0.key) }
        return node
    }
}
/// A screen: it keeps the state of its views, and runs the tasks of those that are on it.
///
/// A task begins when its view appears and is cancelled when it disappears, which a branch of a
/// conditional does when the other one is taken.
@MainActor public final class _Host {
    private let kept = _Kept()
    private let make: @MainActor (_Kept) -> _Node
    private var running: [String: Task<Void, Never>] = [:]
    /// How many tasks have begun so far.
    public private(set) var beginnings = 0
    public init<V: View>(_ view: V, _ env: _Env = _Env()) {
        make = { $0.render(view, env) }
        update()
    }
    /// Draws the screen anew.
    @discardableResult public func update() -> _Node {
        let node = make(kept)
        let wanted = Dictionary(node.all.flatMap(\.tasks)) { first, _ in first }
        for (key, task) in running where wanted[key] == nil {
            task.cancel()
            running[key] = nil
        }
        for (key, action) in wanted where running[key] == nil {
            beginnings += 1
            running[key] = Task { await action() }
        }
        return node
    }
    public func close() {
        for task in running.values { task.cancel() }
        running = [:]
    }
}
@MainActor public final class _Node {
    public let kind: String
    public let text: String?
    public let children: [_Node]
    public let action: (@MainActor () -> Void)?
    public var modifiers: [String] = []
    public var disabled = false
    /// Of a text: how well it is seen, 1 to 21.
    public var contrast: Double?
    public var isInButton = false
    /// How it looks in a browser's words.
    var css: [String] = []
    /// Of a row: what is in it as it is seen.
    public var leftToRight: [_Node] = []
    public var onAppear: (@MainActor () -> Void)?
    public var onOpenURL: (@MainActor (URL) -> Void)?
    public var task: (@MainActor @Sendable () async -> Void)?
    /// Its tasks, each with what tells it from others on the screen.
    public var tasks: [(String, @MainActor @Sendable () async -> Void)] = []
    var path: String?
    /// The views that a modifier is handed to.
    var resolved: [_Node] {
        switch kind {
        case "Group", "ForEach": children.flatMap(\.resolved)
        case "Empty": []
        default: [self]
        }
    }
    public var sheet: (@MainActor () -> _Node)?
    public var dismissSheet: (@MainActor () -> Void)?
    public var controller: AnyObject?
    var coordinator: Any?
    init(
        _ kind: String,
        text: String? = nil,
        children: [_Node] = [],
        action: (@MainActor () -> Void)? = nil
    ) {
        self.kind = kind; self.text = text; self.children = children; self.action = action
    }
    public var all: [_Node] { [self] + children.flatMap(\.all) }
    public var texts: [String] { all.compactMap { $0.kind == "Text" ? $0.text : nil } }
    public func first(_ kind: String) -> _Node? { all.first { $0.kind == kind } }
}
@MainActor public enum _Stub {
    public static func render<V: View>(_ view: V, _ env: _Env = _Env()) -> _Node {
        var env = env.inside("/\(UInt(bitPattern: ObjectIdentifier(V.self).hashValue))")
        let node: _Node
        if let p = view as? any _Primitive {
            node = p._node(env)
        } else {
            for (number, child) in Mirror(reflecting: view).children.enumerated() {
                env.property = number
                (child.value as? any _Bindable_)?._bind(env)
            }
            node = render(view.body, env)
        }
        if node.path == nil { node.path = env.path }
        return node
    }
}
