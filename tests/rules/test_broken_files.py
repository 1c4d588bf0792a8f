"""A hundred and more broken rule files: each is refused with one line that names the file, and never a traceback."""

import os
import time
from pathlib import Path

import pytest

from hf_env.rules import RulesError, RuleSet, load_rules
from hf_env.rules.toml_files import MAX_FILE_BYTES

# A TOML value of a wrong type for each option.
WRONG_TYPES = {
    "preset": "4", "players": '"four"', "seating": "2", "decks": "5.0", "hand_size": "true", "foot_size": "[13]",
    "bury_upcard": "1", "draw": '"two"', "deals": "4.5", "target": "true", "max_deals": "1979-05-27", "opening": '"high"',
    "opening_tail": "false", "book_size": '"7"', "add_to_complete": "true", "wild_limit": '["two_to_one"]',
    "max_wilds": "2.0", "min_naturals": "{}", "wild_melds": "1", "wild_book_cap": "1.5", "take_count": '"everything"',
    "take_key": "{pair = true}", "take_wild_top": "true", "take_needs_open": '"maybe"', "wild_discard_freezes": "0",
    "books_to_go_out": '"2, 2, 1"', "partner_foot": '"partner"', "permission": "false", "final_discard": "true",
    "stock_out": "0", "max_turns": "inf", "points": "[50, 20, 20, 10, 5, 5]", "clean_book": "500.0",
    "dirty_book": '"300"', "wild_book": "nan", "going_out": "07:32:00", "red3_laid": "[[]]", "red3_held": "false",
    "sevens_book": "{a = {b = {c = 1}}}", "unfinished_wild_penalty": '"no"',
}  # fmt: skip

OUT_OF_RANGE = """
players = 1
players = 7
players = -4
players = 0xffffffffffffffffffffffffffffffffffffffffffffffff
seating = "circle"
decks = 0
decks = 9
hand_size = 0
hand_size = 27
foot_size = 1
bury_upcard = ["red3", "joker"]
bury_upcard = ["wild", "wild"]
draw = 0
draw = [2, 6]
draw = []
deals = 21
target = 12
max_deals = 0
opening = [50, 95, 121]
opening = [-50]
opening = [1005]
book_size = 2
max_wilds = 10
min_naturals = 0
wild_book_cap = 21
take_count = -1
books_to_go_out = [2, 2]
books_to_go_out = [2, 2, 1, 0]
books_to_go_out = [[2, 2, 1], 3]
books_to_go_out = [2, -2, 1]
permission = "binding"
max_turns = 0
points.ace = 7
points.joker = 505
points.red3 = 100
clean_book = 10005
red3_held = -100
""".strip().splitlines()

UNKNOWN = """
player = 4
Players = 4
"" = 1
"two\\nlines" = 1
"\\u001b[31mred" = 1
points.queen = 5
rules.players = 4
[whitnack]
[[points]]
""".strip().splitlines()

CONTRADICTIONS = [
    "players = 2",
    "players = 5",
    'seating = "threes"',
    'seating = "alone"',
    'seating = "alone"\npartner_foot = false',
    "decks = 1",
    "hand_size = 26\nfoot_size = 26\ndecks = 4",
    "hand_size = 1\ndraw = 1",
    "wild_melds = false",
    "wild_melds = false\nbooks_to_go_out = [2, 2, 0]\nwild_book_cap = 1",
    "wild_book_cap = 0",
    "books_to_go_out = [0, 0, 5]",
    "books_to_go_out = [20, 20, 0]",
    'wild_limit = "at_most"\nmax_wilds = 0',
    "min_naturals = 7",
    "max_turns = 3",
    "clean_book = 10000",
    "[points]\njoker = 0\ntwo = 0\nace = 0\nhigh = 0\nlow = 0",
    'preset = "nobody"',
    'preset = "two-player"\nplayers = 4\nseating = "pairs"\npermission = "always"',
    'preset = "mini"\nbook_size = 8',
]

NOT_TOML = {
    "no value": b"players =",
    "no key": b"= 4",
    "bare word": b"seating = pairs",
    "yes": b"wild_melds = yes",
    "twice": b"players = 4\nplayers = 4",
    "open string": b'seating = "pairs',
    "open list": b"opening = [50, 90",
    "json": b'{"players": 4}',
    "yaml": b"players: 4\nseating: pairs\n",
    "python": b"import os\nos.system('true')\n",
    "html": b"<html><body>not found</body></html>",
    "binary": bytes(range(256)) * 20,
    "zeros": bytes(5000),
    "png": b"\x89PNG\r\n\x1a\n" + bytes(100),
    "latin 1": "preset = \"familiär\"".encode("latin-1"),
    "utf-16": "players = 4".encode("utf-16"),
    "cut utf-8": "# ä".encode()[:-1],
    "deep lists": b"draw = " + b"[\n" * 20_000,
    "deep closed lists": b"draw = " + b"[\n" * 20_000 + b"]\n" * 5_000,
    "deep tables": b"draw = " + b"{a = " * 180,
    "long key": b"a" + b".a" * 30_000 + b" = 1",
    "many long keys": b"".join(b"k%d" % n + b".a" * 450 + b" = 1\n" for n in range(60)),
    "many digits": b"players = " + b"9" * 900 + b"\n",
    "digits on lines": b'seating = """' + b"9\n" * 5_000 + b'"""',
    "many keys": b"".join(b"key%d = 1\n" % n for n in range(4_000)),
    "long line": b"#" * 2_000,
    "control": b"players = 4\x07",
    "carriage returns": b"players = 4\rdecks = 5\r",
}  # fmt: skip

TEXTS = [f"{key} = {value}" for key, value in WRONG_TYPES.items()] + OUT_OF_RANGE + UNKNOWN + CONTRADICTIONS
FILES = {f"text {number}": text.encode() for number, text in enumerate(TEXTS)} | NOT_TOML


def refusal(path) -> str:
    """The line with which a file is refused; checks that it is one readable line which came soon."""
    began = time.perf_counter()
    with pytest.raises(RulesError) as caught:
        load_rules(path)
    # Generous, for busy machines: what it guards against takes minutes.
    assert time.perf_counter() - began < 10
    line = str(caught.value)
    assert line.isprintable() and 10 < len(line) < 600
    assert caught.value.__cause__ is None and (caught.value.__context__ is None or caught.value.__suppress_context__)
    return line


def test_there_are_a_hundred_and_each_option_has_a_wrong_type():
    assert len(FILES) >= 100
    assert set(WRONG_TYPES) == set(RuleSet.model_fields)


@pytest.mark.parametrize("name", FILES)
def test_broken_file_is_refused_in_one_line(name, tmp_path):
    path = tmp_path / "house.toml"
    path.write_bytes(FILES[name])
    assert "house.toml" in refusal(path)


@pytest.mark.parametrize("key", WRONG_TYPES)
def test_a_wrong_type_is_named_with_its_option_and_what_is_allowed(key, tmp_path):
    path = tmp_path / "house.toml"
    path.write_text(f"{key} = {WRONG_TYPES[key]}\n")
    line = refusal(path)
    assert f"{key} = " in line and "must be" in line


def test_large_file_is_not_read(tmp_path):
    path = tmp_path / "large.toml"
    with path.open("wb") as file:
        file.truncate(50 * 1024 * 1024)
    assert "52,428,800 bytes" in refusal(path)
    path.write_bytes(b"\n" * (MAX_FILE_BYTES + 1))
    assert "at most" in refusal(path)
    path.write_bytes(b"\n" * MAX_FILE_BYTES)
    assert load_rules(path) == load_rules()


def test_what_is_no_file(tmp_path):
    assert "folder" in refusal(tmp_path)
    assert "no rule file" in refusal(tmp_path / "missing.toml")
    assert "did you mean whitnack" in refusal("whitnak.toml") and "six-pairs" in refusal("whitnak.toml")
    assert "no rule set" in refusal("missing")
    refusal("")
    refusal("nul\x00byte.toml")
    refusal("two\nlines.toml")
    refusal("x" * 5_000 + ".toml")
    refusal("\ud800.toml")
    refusal(str(tmp_path / "house.toml" / "inner.toml"))
    assert "regular" in refusal("/dev/null") or os.name == "nt"
    loop = tmp_path / "loop.toml"
    loop.symlink_to(loop)
    refusal(loop)
    pipe = tmp_path / "pipe.toml"
    os.mkfifo(pipe)
    assert "regular" in refusal(pipe)


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may read everything")
def test_unreadable_file(tmp_path):
    path = tmp_path / "secret.toml"
    path.write_text("players = 4")
    path.chmod(0)
    assert "cannot be read" in refusal(path)


def test_a_typing_error_in_a_name_finds_the_right_one():
    assert "did you mean two-player" in refusal("two-players")
    with pytest.raises(RulesError, match="did you mean take_count"):
        load_rules({"take_cuont": 5})


def test_the_message_about_a_file_keeps_the_name_short(tmp_path):
    path = tmp_path / ("a" * 200 + ".toml")
    path.write_text("players = 9")
    assert "players = 9" in refusal(path)


def test_files_as_editors_write_them(tmp_path):
    path = Path(tmp_path) / "house.toml"
    for data in (b"", b"\xef\xbb\xbfplayers = 4\r\n# \xc3\xa4\r\n", b"players = 4", b'preset = "whitnack"\n[points]\n'):
        path.write_bytes(data)
        assert load_rules(path) == load_rules(str(path)) == load_rules()
