"""The site builds without a warning, and its pages are whole."""

import ast
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.docs.pages import DOCS, PAGES, ROOT

SOURCES = sorted([*DOCS.glob("*.md"), *DOCS.glob("reference/*.rst")])


class Page(HTMLParser):
    """Links, anchors and the first heading of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.heading, self._in_heading = "", False
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs) -> None:
        values = dict(attrs)
        self.links += [values[name] for name in ("href", "src") if values.get(name)]
        self.anchors |= {values["id"]} if "id" in values else set()
        self._in_heading = tag == "h1" or (self._in_heading and tag != "a")

    def handle_endtag(self, tag) -> None:
        self._in_heading = self._in_heading and tag != "h1"

    def handle_data(self, data) -> None:
        self.heading += data if self._in_heading else ""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the site, built with every warning an error."""
    folder = tmp_path_factory.mktemp("site")
    options = ["-W", "--keep-going", "-q", "-b", "html", "-d", str(folder / "doctrees")]
    process = subprocess.run([sys.executable, "-m", "sphinx", *options, str(DOCS), str(folder)], cwd=ROOT, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    return folder


def test_every_source_is_a_page_with_its_heading(site):
    """Sphinx has pages of its own, such as search.html, which replace one of ours without a word."""
    for source in SOURCES:
        page = Page((site / source.relative_to(DOCS)).with_suffix(".html"))
        text = (ROOT / "README.md" if source.name == "index.md" else source).read_text(encoding="utf-8")
        assert page.heading.strip() == text.splitlines()[0].lstrip("# "), source.name


def test_no_link_of_the_site_is_dead(site):
    pages = {path: Page(path) for path in site.rglob("*.html")}
    checked = 0
    for path, page in pages.items():
        for link in page.links:
            target, _, anchor = link.partition("#")
            if re.match(r"[a-z]+:|//", link):
                continue
            file = (path.parent / unquote(target.partition("?")[0])).resolve() if target else path
            assert file.is_file(), f"{path.name}: {link}"
            assert not anchor or file.suffix != ".html" or unquote(anchor) in pages[file].anchors, f"{path.name}: {link}"
            checked += 1
    assert checked > 500


def test_links_between_documents_lead_somewhere():
    """As they are read without the site, where the README's paths are its own."""
    for path in PAGES:
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
            assert target.startswith("http") or (path.parent / target).exists(), (path.name, target)


def test_the_reference_tells_arguments_as_lists(site):
    text = (site / "reference" / "hf_env.html").read_text(encoding="utf-8")
    assert "<strong>num_games</strong> -- 1 or more." in text
    assert ">Parameters<span" in text and ">Raises<span" in text


def dialect(docstring: str, names: set[str]) -> list[str]:
    """Names of arguments that a docstring tells in running text, not as items of a section of Google's form."""
    prose = re.split(r"^ *(?:Args|Attributes|Returns|Raises):$", docstring, maxsplit=1, flags=re.MULTILINE)[0]
    name = r"([a-z_][a-z0-9_]*)(?: \([^()]*\))?:[ \n]"
    found = re.findall(rf"^{name}", prose, re.MULTILINE) + re.findall(rf"[.;] {name}", docstring)
    return [each for each in found if each in names]


def test_docstrings_tell_arguments_in_sections():
    """What napoleon reads; ruff checks the sections' own form (pydocstyle, convention google)."""
    assert dialect("Play. a: one.", {"a"}) == ["a"] and not dialect("Play.\n\nArgs:\n    a: one.", {"a"})
    assert dialect("Play.\n\nArgs:\n    b: one. a: two.", {"a"}) == ["a"]
    found = []
    for package in ("hf_env", "agents", "training"):
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                    names = {argument.arg for argument in ast.walk(node) if isinstance(argument, ast.arg)}
                    found += [f"{path.relative_to(ROOT)} {node.name}: {name}" for name in dialect(ast.get_docstring(node) or "", names)]
    assert not found
