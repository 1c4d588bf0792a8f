"""docs/rules.md and these tests know each other: every clause has tests, every option a clause, every named test exists."""

import importlib
import pkgutil
import re
from pathlib import Path

import pytest

from hf_env.rules import RuleSet, load_rules
from hf_env.rules.document import DOCUMENT
from tests.rules import clauses
from tests.rules.clauses.pairs import PAIRS, TESTS
from tests.rules.clauses.table import State

ROOT = DOCUMENT.parents[1]
TRAILER = re.compile(r"<!-- clause (\S+); options:(.*?); tests:(.*?)-->")
MODULES = [importlib.import_module(f"{clauses.__name__}.{module.name}") for module in pkgutil.iter_modules(clauses.__path__)]
# The tests of the modules by name, and the clauses that each of them is marked with.
NAMES = {name: value for module in MODULES for name, value in vars(module).items() if name.startswith("test_")}
CLAUSES_OF = {name: {number for number, tests in TESTS.items() if value in tests} for name, value in NAMES.items()}
FEWEST_POSITION_PAIRS = 300


def words(text):
    """The entries of a list with commas."""
    return [word.strip() for word in text.split(",") if word.strip()]


class Trailer:
    """The line under a clause."""

    def __init__(self, number, options, tests):
        self.number, self.options, self.tests = number, words(options), words(tests)


def trailers(text):
    """The trailers of a document by clause. Raises AssertionError where a clause has none, or a trailer no clause."""
    numbered = re.findall(r"^\*\*(\d+\.\d+)\*\*", text, re.MULTILINE)
    found = [Trailer(*match) for match in TRAILER.findall(text)]
    assert numbered == [trailer.number for trailer in found]
    assert len(set(numbered)) == len(numbered)
    return {trailer.number: trailer for trailer in found}


def complaints(text):
    """What is missing in a document: clauses without tests, tests that do not exist, options without a clause."""
    lines = []
    by_clause = trailers(text)
    for number, trailer in by_clause.items():
        if not trailer.tests:
            lines.append(f"clause {number} has no test")
        for test in trailer.tests:
            if "/" in test:
                if not (ROOT / test).is_file():
                    lines.append(f"clause {number} names {test}, which does not exist")
            elif number not in CLAUSES_OF.get(test, ()):
                lines.append(f"clause {number} names {test}, which does not exist or is not marked with it")
        for option in trailer.options:
            if option not in RuleSet.model_fields:
                lines.append(f"clause {number} names {option}, which is no option")
    covered = {option for trailer in by_clause.values() for option in trailer.options}
    lines += [f"{option} has no clause" for option in RuleSet.model_fields if option not in covered]
    return lines


TEXT = DOCUMENT.read_text(encoding="utf-8")


def test_every_clause_has_tests_and_every_option_a_clause():
    assert complaints(TEXT) == []


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        (r"(clause 4\.3; options: ; tests:).*?-->", r"\1-->", "clause 4.3 has no test"),
        (
            r"(clause 4\.3; options: ; tests: )",
            r"\1test_nothing, ",
            "clause 4.3 names test_nothing, which does not exist or is not marked with it",
        ),
        (r"(clause 4\.3; options: ; tests: )", r"\1tests/none.py, ", "clause 4.3 names tests/none.py, which does not exist"),
        (r"(clause 4\.3; options: )", r"\1darw", "clause 4.3 names darw, which is no option"),
        (r"(clause \S+; options: )stock_out(; tests)", r"\1\2", "stock_out has no clause"),
    ],
)
def test_what_is_missing_is_found(old, new, complaint):
    text = TEXT.replace("options: stock_out, draw;", "options: draw;") if "stock_out" in complaint else TEXT
    assert complaint in complaints(re.sub(old, new, text))


def test_a_clause_without_a_trailer_is_found():
    with pytest.raises(AssertionError):
        trailers(re.sub(r"<!-- clause 4\.3;.*? -->\n", "", TEXT))


def test_every_test_of_a_clause_is_named_there():
    named = {(trailer.number, test) for trailer in trailers(TEXT).values() for test in trailer.tests}
    marked = {(number, name) for name, numbers in CLAUSES_OF.items() for number in numbers}
    assert sorted(marked - named) == []


def test_every_clause_has_a_pair():
    """Of 10.3 alone there is none: it says what is known of the sources."""
    assert set(trailers(TEXT)) - {pair.clause for pair in PAIRS} == {"10.3"}


def test_number_of_pairs():
    keys = {(pair.clause, pair.what) for pair in PAIRS}
    assert len([pair for pair in PAIRS if isinstance(pair.inside, State)]) >= FEWEST_POSITION_PAIRS
    assert len(keys) == len(PAIRS), "two pairs have the same name"


def test_halves_of_a_pair_differ():
    assert [(pair.clause, pair.what) for pair in PAIRS if pair.inside == pair.outside and pair.inside not in SPOILT] == []


# Pairs whose outside is the same state, spoilt: see pairs.positions.
SPOILT = [pair.inside for pair in PAIRS if pair.inside is pair.outside]


def test_every_option_is_changed_in_some_pair():
    """An option that no pair sets to something else than whitnack's value would go unnoticed."""
    defaults = load_rules().resolved()
    changed = {"preset"}
    for pair in PAIRS:
        for half in (pair.inside, pair.outside):
            options = half.options if isinstance(half, State) else half
            changed |= {key for key, value in options.items() if defaults.get(key) != value}
    assert sorted(set(RuleSet.model_fields) - changed) == []


def test_files_are_short():
    for path in Path(clauses.__file__).parent.glob("*.py"):
        assert len(path.read_text(encoding="utf-8").splitlines()) < 400, path
