"""Lists a module's public API from its symbol graph: one line for each declaration, sorted."""
import json
import pathlib
import sys

graph = json.loads(pathlib.Path(sys.argv[1]).read_text())
# Members that a conformance brings along (`!=`, `map`, …) have a parent in another module.
lines = set()
undocumented = []
for symbol in graph["symbols"]:
    if "::SYNTHESIZED::" in symbol["identifier"]["precise"]:
        continue
    declaration = "".join(part["spelling"] for part in symbol["declarationFragments"])
    if "docComment" not in symbol:
        undocumented.append(".".join(symbol["pathComponents"]))
    lines.add(f"{'.'.join(symbol['pathComponents'])}: {' '.join(declaration.split())}")
print("\n".join(sorted(lines)))
if undocumented:
    sys.exit("public without a documentation comment: " + ", ".join(sorted(undocumented)))
