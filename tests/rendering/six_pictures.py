"""Six positions as they were drawn and looked at: start, opening, full table, answer phase, six players, end of game.

``python -m tests.rendering.six_pictures FOLDER`` draws them into a folder, to be looked at, and writes the hashes anew.
"""

import hashlib
import json
import sys
from pathlib import Path

import numpy as np
import PIL
from PIL import Image

from hf_env import ACTIONS, hand_and_foot_v0
from hf_env.rendering.rgb_array import PICTURE_VERSION

HERE = Path(__file__).parent
HASHES = HERE / "pictures.json"


def pictures() -> dict[str, np.ndarray]:
    """By name (600, 800, 3) uint8."""
    drawn = {}
    for name, entry in json.loads((HERE / "positions.json").read_text()).items():
        position = entry["position"]
        env = hand_and_foot_v0.env(rules=position["rules"], render_mode="rgb_array", render_view=entry["view"])
        env.set_position(position)
        drawn[name] = env.render()
        if name == "full_table":  # whose last discard ends the last deal
            env = hand_and_foot_v0.env(rules=position["rules"], render_mode="rgb_array")
            env.set_position(position)
            env.step(ACTIONS.parse("discard T"))
            drawn["end_of_game"] = env.render()
    return drawn


def described(drawn: dict[str, np.ndarray]) -> dict[str, object]:
    """The pictures' hashes, with the versions that they depend on: the letters are drawn by Pillow."""
    hashes = {name: hashlib.sha256(picture.tobytes()).hexdigest() for name, picture in drawn.items()}
    return {"picture_version": PICTURE_VERSION, "pillow": PIL.__version__, "sha256": hashes}


if __name__ == "__main__":
    drawn = pictures()
    for name, picture in drawn.items():
        Image.fromarray(picture).save(Path(sys.argv[1]) / f"{name}.png")
    HASHES.write_text(json.dumps(described(drawn), indent=1) + "\n")
