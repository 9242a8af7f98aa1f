// Writes files of a module anew so that a number in the environment changes one operator, without
// compiling again:
//
//   rewrite MODULE WRITTEN-OUT SKIPPED FROM TO FILE… > sites.json
//
// `a < b` becomes `Mutant_MODULE.less(17, a, b)`, which is `a <= b` if TOLLGATE_MUTANT is 17. Where
// the compiler does not take the call, the change is written out: `(Mutant_MODULE.on(17) ? a <= b :
// a < b)`. WRITTEN-OUT lists the numbers of these places, separated by commas, and SKIPPED those that
// stay as they are. Lines stay where they are.
import Foundation
import SwiftOperators
import SwiftParser
import SwiftSyntax

/// One place where something can be changed.
struct Site: Codable {
    var id: Int
    var file: String
    var line: Int
    var column: Int
    var change: String
    var code: String
}

/// The operators that become a call, with the call's name and what they are changed into.
let operators = [
    "<": ("less", "<="), "<=": ("lessOrEqual", "<"), ">": ("greater", ">="),
    ">=": ("greaterOrEqual", ">"), "==": ("equal", "!="), "!=": ("notEqual", "=="),
    "&&": ("and", "||"), "||": ("or", "&&"), "+": ("plus", "-"), "-": ("minus", "+"),
    "+=": ("add", "-="), "-=": ("subtract", "+="),
]
let members = [
    "first": "last", "last": "first", "min": "max", "max": "min", "firstIndex": "lastIndex",
    "lastIndex": "firstIndex", "dropFirst": "dropLast", "dropLast": "dropFirst",
    "prefix": "suffix", "suffix": "prefix",
]
/// Those of them that may be asked with a closure.
let searches: Set = ["first", "last", "firstIndex", "lastIndex", "min", "max"]
let functions = ["min": "max", "max": "min", "earlier": "later", "later": "earlier"]

final class Mutator: SyntaxRewriter {
    private let support: String
    private let file: String
    private let lines: [Substring]
    private let tree: Syntax
    private let converter: SourceLocationConverter
    private let writtenOut: Set<Int>
    private let skipped: Set<Int>
    private(set) var next: Int
    private(set) var sites: [Site] = []
    /// Members that are called, and no places of their own.
    private var called: Set<SyntaxIdentifier> = []

    init(
        _ source: String,
        of file: String,
        in module: String,
        from next: Int,
        writtenOut: Set<Int>,
        skipped: Set<Int>
    ) throws {
        support = "Mutant_\(module)"
        self.file = file
        lines = source.split(separator: "\n", omittingEmptySubsequences: false)
        tree = try OperatorTable.standardOperators.foldAll(Parser.parse(source: source))
        converter = SourceLocationConverter(fileName: file, tree: tree)
        self.next = next
        self.writtenOut = writtenOut
        self.skipped = skipped
    }

    func text() -> String { rewrite(tree).description }

    /// The number of a change at this place; nil where it is skipped.
    private func number(_ place: some SyntaxProtocol, _ change: String) -> Int? {
        defer { next += 1 }
        guard !skipped.contains(next) else { return nil }
        let location = place.startLocation(converter: converter)
        let code = lines[location.line - 1].trimmingCharacters(in: .whitespaces)
        sites.append(
            Site(
                id: next,
                file: file,
                line: location.line,
                column: location.column,
                change: change,
                code: code
            )
        )
        return next
    }

    /// `text` in the place of `node`, with what stands around it.
    private func replacing(_ node: some ExprSyntaxProtocol, _ text: String) -> ExprSyntax {
        text.asExpression
            .with(\.leadingTrivia, node.leadingTrivia)
            .with(\.trailingTrivia, node.trailingTrivia)
    }

    private func choice(_ id: Int, _ node: some ExprSyntaxProtocol, _ other: String) -> ExprSyntax {
        replacing(node, "(\(support).on(\(id)) ? (\(other)) : \(node.trimmedDescription))")
    }

    // MARK: Operators

    override func visit(_ node: InfixOperatorExprSyntax) -> ExprSyntax {
        guard let sign = node.operator.as(BinaryOperatorExprSyntax.self)?.operator,
            var (name, other) = operators[sign.text], !node.hasEffects,
            // A sentence that goes on in the next line is no sum.
            !node.rightOperand.is(StringLiteralExprSyntax.self)
        else { return super.visit(node) }
        // Of an order of elements `<=` would be the same order.
        if node.isOrder { (name, other) = ("precedes", ">") }
        let id = number(sign, "\(sign.text) → \(other)")
        let rewritten = super.visit(node)
        guard let id, let node = rewritten.as(InfixOperatorExprSyntax.self) else {
            return rewritten
        }
        let (left, right) = (node.leftOperand, node.rightOperand)
        // Tuples belong to no protocol, and `nil` is compared without one.
        if left.isTupleOrNil || right.isTupleOrNil || writtenOut.contains(id) {
            return choice(id, node, "\(left.onOneLine) \(other) \(right.onOneLine)")
        }
        let isChanged = sign.text == "+=" || sign.text == "-="
        return replacing(
            node,
            "\(support).\(name)(\(id), \(isChanged ? "&" : "")\(left.trimmedDescription)"
                + "\(node.operator.leadingTrivia.newlines),\(right.leadingTrivia.newlines)"
                + " \(right.trimmedDescription))"
        )
    }

    override func visit(_ node: PrefixOperatorExprSyntax) -> ExprSyntax {
        guard node.operator.text == "!", !node.hasEffects else { return super.visit(node) }
        let id = number(node, "! dropped")
        let rewritten = super.visit(node)
        guard let id, let node = rewritten.as(PrefixOperatorExprSyntax.self) else {
            return rewritten
        }
        return replacing(node, "\(support).not(\(id), \(node.expression.trimmedDescription))")
    }

    override func visit(_ node: BooleanLiteralExprSyntax) -> ExprSyntax {
        let id = number(node, node.literal.text == "true" ? "true → false" : "false → true")
        guard let id else { return super.visit(node) }
        return replacing(node, "\(support).flag(\(id), \(node.trimmedDescription))")
    }

    // MARK: Conditions

    /// Of several conditions one is dropped.
    override func visit(_ node: ConditionElementListSyntax) -> ConditionElementListSyntax {
        let ids = node.map { element -> Int? in
            guard node.count > 1, let condition = element.condition.as(ExprSyntax.self),
                !condition.hasEffects
            else { return nil }
            return number(condition, "condition dropped")
        }
        return ConditionElementListSyntax(
            zip(super.visit(node), ids).map { element, id in
                guard let id, let condition = element.condition.as(ExprSyntax.self) else {
                    return element
                }
                return element.with(\.condition, .expression(dropping(id, condition)))
            }
        )
    }

    override func visit(_ node: WhereClauseSyntax) -> WhereClauseSyntax {
        guard !node.condition.hasEffects else { return super.visit(node) }
        let id = number(node.condition, "condition dropped")
        let node = super.visit(node)
        guard let id else { return node }
        return node.with(\.condition, dropping(id, node.condition))
    }

    private func dropping(_ id: Int, _ condition: ExprSyntax) -> ExprSyntax {
        replacing(condition, "\(support).condition(\(id), \(condition.trimmedDescription))")
    }

    // MARK: Functions and members

    override func visit(_ node: FunctionCallExprSyntax) -> ExprSyntax {
        guard !node.hasEffects else { return super.visit(node) }
        let callee = node.calledExpression
        if let name = callee.functionName, let other = functions[name.text],
            node.arguments.count == 2
        {
            called.insert(callee.id)
            let id = number(name, "\(name.text) → \(other)")
            let rewritten = super.visit(node)
            guard let id, let node = rewritten.as(FunctionCallExprSyntax.self) else {
                return rewritten
            }
            let function =
                other.count == 3
                ? "\(support).\(name.text)(\(id), "
                : "(\(support).on(\(id)) ? \(other) : \(name.text))("
            return replacing(node, function + "\(node.arguments.description))")
        }
        guard let member = callee.as(MemberAccessExprSyntax.self) else { return super.visit(node) }
        called.insert(member.id)
        guard let change = member.change(isAsked: node.trailingClosure != nil) else {
            return super.visit(node)
        }
        let id = number(change.place, change.name)
        let rewritten = super.visit(node)
        guard let id, let node = rewritten.as(FunctionCallExprSyntax.self),
            let member = node.calledExpression.as(MemberAccessExprSyntax.self),
            let base = member.base
        else { return rewritten }
        let name = member.declName.baseName.text
        if name == "contains" {
            return replacing(
                node,
                "\(support).contains(\(id), \(base.trimmedDescription), \(node.arguments))"
            )
        }
        // A closure that is written twice makes the compiler think twice.
        if let closure = node.trailingClosure, !writtenOut.contains(id) {
            return replacing(
                node,
                "\(support).\(name)(\(id), \(base.trimmedDescription)"
                    + "\(member.period.leadingTrivia.newlines)) \(closure.trimmedDescription)"
            )
        }
        guard let other = member.changed else { return rewritten }
        return choice(id, node, node.with(\.calledExpression, ExprSyntax(other)).onOneLine)
    }

    override func visit(_ node: MemberAccessExprSyntax) -> ExprSyntax {
        guard !called.contains(node.id), !node.hasEffects, let change = node.change(isAsked: false)
        else { return super.visit(node) }
        let id = number(change.place, change.name)
        let rewritten = super.visit(node)
        guard let id, let node = rewritten.as(MemberAccessExprSyntax.self) else {
            return rewritten
        }
        guard let other = node.changed else {
            let range = node.base?.trimmedDescription ?? ""
            return replacing(node, "{ \(support).contains(\(id), \(range), $0) }")
        }
        return choice(id, node, other.onOneLine)
    }

    // MARK: Patterns are no expressions

    override func visit(_ node: SwitchCaseItemSyntax) -> SwitchCaseItemSyntax {
        node.with(\.whereClause, node.whereClause.map { visit($0) })
    }

    override func visit(_ node: MatchingPatternConditionSyntax) -> MatchingPatternConditionSyntax {
        node.with(\.initializer, visit(node.initializer))
    }

    override func visit(_ node: IfConfigDeclSyntax) -> DeclSyntax { DeclSyntax(node) }
    override func visit(_ node: AttributeSyntax) -> AttributeSyntax { node }
}

extension ExprSyntaxProtocol {
    /// Whether it throws or waits: such an expression cannot be wrapped as it is.
    var hasEffects: Bool {
        tokens(viewMode: .sourceAccurate).contains {
            $0.tokenKind == .keyword(.try) || $0.tokenKind == .keyword(.await)
        }
    }

    var isTupleOrNil: Bool {
        self.is(NilLiteralExprSyntax.self)
            || (self.as(TupleExprSyntax.self).map { $0.elements.count > 1 } ?? false)
    }

    /// Without line breaks, so that what is written twice keeps the lines; and without comments.
    var onOneLine: String {
        tokens(viewMode: .sourceAccurate).map { token in
            let before = token.leadingTrivia.isEmpty ? "" : " "
            let after = token.trailingTrivia.isEmpty ? "" : " "
            return before + token.text.replacingOccurrences(of: "\n", with: " ") + after
        }.joined().trimmingCharacters(in: .whitespaces)
    }

    /// `min` in `min(a, b)` and `Swift.min(a, b)`.
    var functionName: TokenSyntax? {
        if let name = self.as(DeclReferenceExprSyntax.self) { return name.baseName }
        guard let member = self.as(MemberAccessExprSyntax.self),
            member.base?.trimmedDescription == "Swift"
        else { return nil }
        return member.declName.baseName
    }
}

extension InfixOperatorExprSyntax {
    /// Whether it says which of two elements comes first: `{ $0.id < $1.id }`, or a type's own `<`.
    var isOrder: Bool {
        guard self.operator.trimmedDescription == "<" else { return false }
        let (left, right) = (leftOperand.trimmedDescription, rightOperand.trimmedDescription)
        return left.contains("$0") && left.replacingOccurrences(of: "$0", with: "$1") == right
            || left.contains("left.")
                && left.replacingOccurrences(of: "left.", with: "right.") == right
    }
}

extension MemberAccessExprSyntax {
    /// What can be changed of it, and how.
    ///
    /// - Parameter isAsked: whether a closure comes after it.
    func change(isAsked: Bool) -> (place: TokenSyntax, name: String)? {
        let name = declName.baseName
        if let other = members[name.text], !isAsked || searches.contains(name.text) {
            return (name, ".\(name.text) → .\(other)")
        }
        guard name.text == "contains", let tuple = base?.as(TupleExprSyntax.self),
            let range = tuple.elements.first?.expression.as(InfixOperatorExprSyntax.self),
            let sign = range.operator.as(BinaryOperatorExprSyntax.self)?.operator,
            sign.text == "..."
        else { return nil }
        return (sign, "... → ..<")
    }

    /// It under another name.
    var changed: MemberAccessExprSyntax? {
        members[declName.baseName.text].map { other in
            with(\.declName, DeclReferenceExprSyntax(baseName: .identifier(other)))
        }
    }
}

extension String {
    /// As if it were one word: the tree is only written out.
    var asExpression: ExprSyntax {
        ExprSyntax(DeclReferenceExprSyntax(baseName: .identifier(self)))
    }
}

extension Trivia {
    /// The line breaks alone.
    var newlines: String {
        String(
            repeating: "\n",
            count: reduce(0) { sum, piece in
                if case .newlines(let count) = piece { sum + count } else { sum }
            }
        )
    }
}

let arguments = CommandLine.arguments
guard arguments.count > 6 else {
    fatalError("usage: rewrite MODULE WRITTEN-OUT SKIPPED FROM TO FILE…")
}
let (writtenOut, skipped) = (numbers(arguments[2]), numbers(arguments[3]))
let (from, to) = (URL(fileURLWithPath: arguments[4]), URL(fileURLWithPath: arguments[5]))
var next = 0
var sites: [Site] = []
for file in arguments[6...] {
    let source = try String(contentsOf: from.appending(path: file), encoding: .utf8)
    let mutator = try Mutator(
        source,
        of: file,
        in: arguments[1],
        from: next,
        writtenOut: writtenOut,
        skipped: skipped
    )
    let target = to.appending(path: file)
    let text = mutator.text()
    // A file that stays the same is not compiled again.
    if (try? String(contentsOf: target, encoding: .utf8)) != text {
        try FileManager.default.createDirectory(
            at: target.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        try text.write(to: target, atomically: true, encoding: .utf8)
    }
    next = mutator.next
    sites += mutator.sites
}
FileHandle.standardOutput.write(try JSONEncoder().encode(sites))

func numbers(_ list: String) -> Set<Int> { Set(list.split(separator: ",").compactMap { Int($0) }) }
