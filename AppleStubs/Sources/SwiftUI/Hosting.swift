// Scrolling, and views in UIKit's controllers.
public struct ScrollView<Content: View>: View, _Primitive {
    let c: Content
    public init(@ViewBuilder content: () -> Content) { c = content() }
    public func _node(_ env: _Env) -> _Node {
        _Node("ScrollView", children: [_Stub.render(c, env)])
    }
}

#if canImport(UIKit)
    @MainActor open class UIHostingController<Content: View>: UIViewController {
        open var rootView: Content
        public init(rootView: Content) {
            self.rootView = rootView
            super.init(nibName: nil, bundle: nil)
        }
        public required init?(coder: NSCoder) { fatalError("not from a nib") }
    }
#endif
