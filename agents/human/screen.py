"""Where a person reads and types: coloured in a terminal, plain text elsewhere."""

import sys
import textwrap
from typing import TextIO

from rich.console import Console
from rich.text import Text

_PLAIN_WIDTH = 100
# Longer than anything that could be meant; the rest of the line is read as the next one.
_MAX_LINE = 2000


class Screen:
    """A pair of streams.

    Args:
        input, output: text streams, by default the process's own. In a terminal lines can be edited and recalled; elsewhere
            each line read is written after the prompt, so that the output reads as what was seen.
    """

    def __init__(self, input: TextIO | None = None, output: TextIO | None = None) -> None:
        self._input = sys.stdin if input is None else input
        self._output = sys.stdout if output is None else output
        self._console = Console(file=self._output, highlight=False, markup=False, emoji=False, soft_wrap=True)
        self.is_interactive = _is_terminal(self._input) and _is_terminal(self._output)
        self._edits = self.is_interactive and self._input is sys.stdin and self._output is sys.stdout
        if self._edits:
            import readline  # noqa: F401  gives the built-in input() its editing

    @property
    def width(self) -> int:
        """Columns to fill."""
        return max(40, self._console.width) if self._console.is_terminal else _PLAIN_WIDTH

    def say(self, text: str = "", style: str = "") -> None:
        """Write a line, or several."""
        self._console.print(Text(text, style=style))

    def say_wrapped(self, text: str, style: str = "", indent: str = "") -> None:
        """Write a paragraph, its further lines indented."""
        self.say("\n".join(textwrap.wrap(text, self.width - 1, subsequent_indent=indent, break_on_hyphens=False)), style)

    def say_items(self, title: str, items: list[str], width: int = 10) -> None:
        """Write a titled list of short items, the lines aligned; an item is never broken."""
        line, indent = f"  {title:{width}}", " " * (width + 2)
        is_empty = True
        for item in items:
            if not is_empty and len(line) + 2 + len(item) > self.width:
                self._console.print(_numbered(line))
                line, is_empty = indent, True
            line += item if is_empty else f"  {item}"
            is_empty = False
        self._console.print(_numbered(line))

    def clear(self) -> None:
        """Empty the terminal."""
        self._console.clear()

    def ask(self, prompt: str) -> str | None:
        """A line that the person types, without its end; None when there is no more input."""
        if self._edits:
            self._console.file.flush()
            try:
                return input(prompt)[:_MAX_LINE]
            except EOFError:
                self.say()
                return None
        self._output.write(prompt)
        self._output.flush()
        line = self._input.readline(_MAX_LINE)
        if not line:
            self.say()
            return None
        if not self.is_interactive:
            self.say(_printable(line))
        return line.rstrip("\r\n")


def _is_terminal(stream: TextIO) -> bool:
    try:
        return bool(stream.isatty())
    except (AttributeError, ValueError):
        return False


def _printable(line: str) -> str:
    """The line without what could move a cursor."""
    return "".join(character for character in line if character.isprintable())


def _numbered(line: str) -> Text:
    """A line of a list, its numbers dimmed."""
    text = Text(line)
    text.highlight_regex(r"\[\d+\]", "cyan")
    return text
