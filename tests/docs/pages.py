"""The pages as the tests read them: fenced blocks with the note before each, and the commands in the text."""

from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
COMMANDS = ("handfoot", "make", "pip", "python", "pytest", "tensorboard")
_NOT_RUN, _GOES_ON = "<!-- not run:", "<!-- goes on -->"


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, whether it is to be run, and whether it goes on from the block before."""

    page: str
    line: int
    language: str
    text: str
    is_run: bool
    goes_on: bool

    @property
    def file(self) -> str | None:
        """The name under which a reader is to save it: its first line's comment, as ``# mine.py``."""
        first = self.text.partition("\n")[0]
        name = first.removeprefix("# ")
        return name if first.startswith("# ") and name.endswith((".py", ".toml")) and " " not in name else None


def blocks(path: Path) -> list[Block]:
    """The blocks of a page in order, indented ones too, but Sphinx's directives."""
    found, note = [], ""
    for token in MarkdownIt("commonmark").parse(path.read_text(encoding="utf-8")):
        if token.type in ("fence", "code_block"):
            if not token.info.startswith("{"):
                is_run, goes_on = not note.startswith(_NOT_RUN), note == _GOES_ON
                found.append(Block(path.name, token.map[0] + 1, token.info.strip(), token.content, is_run, goes_on))
        note = token.content.strip() if token.type == "html_block" else ""
    return found


def spans(path: Path) -> list[str]:
    """The texts in code type inside a page's paragraphs and tables."""
    tokens = MarkdownIt("commonmark").enable("table").parse(path.read_text(encoding="utf-8"))
    inline = [child for token in tokens if token.type == "inline" for child in token.children]
    return [" ".join(child.content.split()) for child in inline if child.type == "code_inline"]


def commands(path: Path) -> list[str]:
    """The spans of a page that are commands."""
    return [span for span in spans(path) if span.split(" ")[0] in COMMANDS and " " in span]
