"""The drawn table of six positions is the same for a version, byte by byte."""

import json
import re

import PIL
import pytest

from tests.architecture.subprocesses import ROOT
from tests.rendering.six_pictures import HASHES, described, pictures

KNOWN = json.loads(HASHES.read_text())


def test_the_hashes_are_of_the_pinned_pillow():
    assert re.search(r"^pillow==(.*)$", (ROOT / "constraints.txt").read_text(), re.M)[1] == KNOWN["pillow"]


@pytest.mark.skipif(PIL.__version__ != KNOWN["pillow"], reason=f"the hashes are of Pillow {KNOWN['pillow']}")
def test_six_positions_are_drawn_as_they_were_looked_at():
    drawn = pictures()
    assert sorted(drawn) == ["answer", "end_of_game", "full_table", "opening", "six_players", "start"]
    assert all(picture.shape == (600, 800, 3) for picture in drawn.values())
    assert described(drawn) == KNOWN, "look at: python -m tests.rendering.six_pictures FOLDER; then raise PICTURE_VERSION"
