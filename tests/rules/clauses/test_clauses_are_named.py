"""Every clause of docs/rules.md is named where it is decided, and no other is: ``grep -rn "rules.md 5.3"`` finds the branch."""

import io
import re
import tokenize
from pathlib import Path

from hf_env.rules.document import DOCUMENT

ROOT = DOCUMENT.parents[1]
FOLDERS = ("hf_env/engine", "hf_env/rules")
# Clauses that decide nothing by themselves.
DEFINE_ONLY = {
    "7.9": "examples",
    "9.6": "examples",
    "10.3": "how certain the presets are",
}
NAMED = re.compile(r"rules\.md (\d+\.\d+(?:(?:, | to )\d+\.\d+)*)")


def clauses(text: str) -> list[str]:
    """Numbers of the clauses of a document, in order."""
    return re.findall(r"^\*\*(\d+\.\d+)\*\*", text, re.MULTILINE)


def named_in(source: str, order: list[str]) -> set[str]:
    """Clauses that comments and strings of a Python source name, as "rules.md 5.3, 5.6 to 5.8"."""
    found = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in (tokenize.COMMENT, tokenize.STRING):
            continue
        for names in NAMED.findall(token.string):
            for entry in names.split(", "):
                first, _, last = entry.partition(" to ")
                assert {first, last or first} <= set(order), f"no clause {entry}"
                found |= set(order[order.index(first) : order.index(last or first) + 1])
    return found


def test_the_check_reads_lists_and_ranges():
    order = ["5.1", "5.2", "5.3", "5.4"]
    assert named_in('"""Rule: docs/rules.md 5.1, 5.3 to 5.4."""\nx = 1  # rules.md 5.2\ny = 5.3\n', order) == set(order)
    assert named_in("# rules.md 5\nx = 5.3\n", order) == set()


def test_every_clause_is_named_where_it_is_decided():
    order = clauses(DOCUMENT.read_text(encoding="utf-8"))
    found = set()
    for folder in FOLDERS:
        for path in sorted(Path(ROOT, folder).rglob("*.py")):
            found |= named_in(path.read_text(encoding="utf-8"), order)
    assert [clause for clause in order if clause not in found and clause not in DEFINE_ONLY] == []
    assert set(DEFINE_ONLY) <= set(order)
