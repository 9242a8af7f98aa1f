"""The Objective-C of the guides, held to the classes that Xcode makes of BillingSDK's sources: every message,
property and constant has the name that Swift's rules give it. Linux has no Objective-C: nothing is compiled.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SDK = (ROOT / "docs/public-api/BillingSDK.txt").read_text()
# Those of Swift's prepositions that the SDK's labels begin with: they take no `With`.
PREPOSITION = re.compile(r"from\b|with\b")


def capitalized(name):
    return name[:1].upper() + name[1:]


def selector(name):
    """The selector of a Swift function: `purchase(productID:completion:)` is `purchaseWithProductID:completion:`.

    https://developer.apple.com/documentation/swift/importing-swift-into-objective-c
    """
    base, _, labels = name.rstrip(")").partition("(")
    first, *others = labels.split(":")[:-1] or [""]
    if not first:
        return base
    if first == "_":
        first = base
    else:
        first = base + ("" if PREPOSITION.match(first) else "With") + capitalized(first)
    return ":".join([first, *others]) + ":"


def members(kind):
    return re.findall(rf"^{kind}\.([^:\n]+(?:\([^)\n]*\))?): ", SDK, re.M)


SELECTORS = {kind: {selector(name) for name in members(kind)}
             for kind in ("TGBilling", "TGBillingCustomerSession", "TGBillingEntitlement")}
# The sources say of these that Objective-C does not see them.
SELECTORS["TGBilling"] -= {"sdk", "initWithSdk:"}
CONSTANTS = {kind + capitalized(name)
             for kind in ("TGBillingPurchaseResult", "TGBillingCheckoutReturn", "TGBillingErrorCode")
             for name in members(kind) if "(" not in name}


def blocks(page):
    text = (ROOT / "docs" / f"{page}.md").read_text()
    return re.findall(r"```objc\n(.*?)```", text, re.S)


TOKEN = re.compile(r'@?"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/|[\[\](){}?]|\w+:?|\S', re.S)


def messages(code):
    """Each message in the code: what is before its first part, and its selector."""
    stack, found, ternaries = [], [], 0
    for match in TOKEN.finditer(code):
        token = match[0]
        if token in "[({":
            stack.append([token, match.end(), None, []])
        elif token in "])}" and stack:
            opened, begin, end, parts = stack.pop()
            if opened == "[" and token == "]":
                inside = code[begin:match.start()].strip()
                if parts:
                    found.append((code[begin:end].strip(), "".join(parts)))
                elif unary := re.fullmatch(r"(.*\S)\s+(\w+)", inside, re.S):
                    found.append((unary[1], unary[2]))
        elif token == "?":
            ternaries += 1
        elif re.fullmatch(r"\w+:", token) and stack and stack[-1][0] == "[":
            if ternaries:
                ternaries -= 1
                continue
            if not stack[-1][3]:
                stack[-1][2] = match.start()
            stack[-1][3].append(token)
    return found


def kind(receiver):
    """The SDK's class that a message goes to; `None`: it is not the SDK's."""
    if made := re.fullmatch(r"\[(TGBilling\w*) alloc\]", receiver):
        return made[1]
    return "TGBilling" if receiver in ("Billing.shared", "billing", "self.billing") else None


@pytest.mark.parametrize("page", ["objective-c", "react-native"])
def test_every_message_is_one_that_the_class_understands(page):
    sent = [(kind(receiver), name) for code in blocks(page) for receiver, name in messages(code)]
    ours = [(to, name) for to, name in sent if to]
    assert len(ours) >= {"objective-c": 11, "react-native": 1}[page]
    for to, name in ours:
        assert name in SELECTORS[to], f"{page}.md: {to} has no {name}"


@pytest.mark.parametrize("page", ["objective-c", "react-native"])
def test_every_name_is_one_of_the_sdk(page):
    for code in blocks(page):
        for to, name in re.findall(r"\b(TGBilling\w*)\.(\w+)", code):
            assert name in SELECTORS[to], f"{page}.md: {to} has no {name}"
        for name in set(re.findall(r"\bTGBilling\w+", code)):
            assert name in SELECTORS or name in CONSTANTS or f"\n{name}: " in SDK, f"{page}.md: {name}"


def test_every_selector_in_the_text_is_one_of_the_sdk():
    text = (ROOT / "docs/objective-c.md").read_text()
    named = re.findall(r"`(\w+(?:\w+:)+)`", text)
    assert named
    for name in named:
        assert name in SELECTORS["TGBilling"], name
    for name in re.findall(r"`(\w+)`", text.partition("gives the whole set, with")[2].partition(" of each")[0]):
        assert name in SELECTORS["TGBillingEntitlement"], name


def test_a_wrong_message_is_noticed():
    code = '[billing buyWithProductID:@"a" completion:^(BOOL has) { [self show:x ? y : z]; }];'
    assert messages(code) == [("self", "show:"), ("billing", "buyWithProductID:completion:")]
    assert "buyWithProductID:completion:" not in SELECTORS["TGBilling"]
    assert selector("presentCustomerPortal(from:completion:)") == "presentCustomerPortalFrom:completion:"
    assert selector("handleCheckoutReturn(_:completion:)") == "handleCheckoutReturn:completion:"
