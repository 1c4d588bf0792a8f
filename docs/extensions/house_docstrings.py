"""Shows this project's docstrings as lists of arguments.

Our docstrings tell arguments in running text, ``num_games: 1 or more. rules: a preset's name.``; a name counts as an
argument only where the signature or the class's fields have it. What has the form of Google's or Sphinx's lists is left to napoleon.
"""

import inspect
import re
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from typing import Any

# One or several names, each with what it is in brackets or without, before a colon: at the beginning of a line, or after a sentence.
_ONE = r"[a-z_][a-z0-9_]*(?: \([^()]*\))?"
_NAMES = re.compile(rf"(?:^|(?<=[.;)] ))(?P<names>{_ONE}(?:,? (?:and )?{_ONE})*):[ \n]", re.MULTILINE)
# A page of the site that a docstring names, outside literals.
_PAGE = re.compile(r"(?<![`\w/])docs/(\w+)\.md\b")
_NAME = re.compile(r"(?P<name>[a-z_][a-z0-9_]*)(?P<kind> \([^()]*\))?")


def names_of(thing: Any) -> set[str]:
    """Names that a docstring may explain: the parameters of a callable, the fields of a dataclass, a class's annotations."""
    names: set[str] = set()
    for owner in (thing, thing.__init__) if inspect.isclass(thing) else (thing,):
        try:
            names |= set(inspect.signature(owner).parameters)
        except (TypeError, ValueError):
            continue
    if is_dataclass(thing):
        names |= {each.name for each in fields(thing)}
    if inspect.isclass(thing):
        names |= set(vars(thing).get("__annotations__", {}))
        names |= {name for name, value in vars(thing).items() if isinstance(value, property)}
    return names - {"self", "cls"}


def as_list(paragraph: str, known: Iterable[str]) -> list[str]:
    """The lines of a paragraph: as they are, or where it tells arguments what comes before them and then one item each.

    Nothing is lost: a text after the last argument belongs to that argument.
    """
    text = "\n".join(line.strip() for line in paragraph.splitlines())
    found = []
    for match in _NAMES.finditer(text):
        parts = _NAME.findall(re.sub(r"\band\b", " ", match["names"]))
        if parts and all(name in known for name, _ in parts):
            found.append((match, parts))
    if not found:
        return paragraph.splitlines()
    before = text[: found[0][0].start()].rstrip()
    lines = [*before.splitlines(), ""] if before else []
    ends = [match.start() for match, _ in found[1:]] + [len(text)]
    for (match, parts), end in zip(found, ends, strict=True):
        names = ", ".join(f"**{name}**{kind}" for name, kind in parts)
        meaning = " ".join(text[match.end() : end].split()).rstrip(";")
        lines.append(f"* {names}: {meaning}")
    return lines


def reshape(lines: list[str], known: Iterable[str]) -> list[str]:
    """A docstring's lines with its paragraphs of arguments as lists, ``Raises ...`` as a paragraph of its own, and pages linked."""
    lines = [_PAGE.sub(r":doc:`docs/\1.md </\1>`", line) for line in lines]
    if any(line.strip().startswith((":", "Args:", "* ")) for line in lines):
        return lines
    known = set(known)
    shown: list[str] = []
    for paragraph in re.split(r"\n\s*\n", "\n".join(lines).strip("\n")):
        for part in re.split(r"(?:(?<=^)|(?<=\.\s))(?=(?:Raises|Returns) [A-Za-z(])", paragraph):
            part = re.sub(r"^(Raises|Returns) ", r"**\1** ", part.strip("\n"))
            shown += [*as_list(part, known), ""]
    return shown


def setup(app) -> dict[str, Any]:
    """Sphinx calls this."""

    def on_docstring(app, what, name, thing, options, lines) -> None:
        lines[:] = reshape(lines, names_of(thing))

    def on_signature(app, what, name, thing, options, signature, returned):
        # Sphinx cannot read how Python shows a dataclass's factory, and would break the line at every comma.
        return (signature and signature.replace("<factory>", "..."), returned)

    app.connect("autodoc-process-signature", on_signature)
    # Before napoleon, whose own handler has the priority 500.
    app.connect("autodoc-process-docstring", on_docstring, priority=400)
    return {"parallel_read_safe": True}
