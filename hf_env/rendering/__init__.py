"""Pictures of a game: text (``ansi``), drawn tables (``rgb_array``) and animations. Drawing needs Pillow, films imageio-ffmpeg."""

import importlib
from types import ModuleType

import numpy as np

from hf_env.rendering.ansi import render_table

RENDER_MODES = ("ansi", "human", "rgb_array")
# What is said where a package is missing, by the name that it is imported by.
NEEDS = {
    "PIL": "drawing a table needs Pillow: pip install 'hf-env[render]'",
    "imageio_ffmpeg": "writing MP4 needs imageio-ffmpeg: pip install 'hf-env[video]'",
}


def load_drawing(module: str = "rgb_array") -> ModuleType:
    """The module of that name in this package: "rgb_array" and "animation" import Pillow, "video" imageio-ffmpeg too.

    Raises:
        ImportError: Of one line that says what to install.
    """
    try:
        return importlib.import_module(f"{__name__}.{module}")
    except ModuleNotFoundError as error:
        if error.name not in NEEDS:
            raise
        raise ImportError(NEEDS[error.name]) from None


class Renderer:
    """Shows a game in a render mode: None or one of RENDER_MODES.

    Raises:
        ImportError: For "rgb_array" without Pillow.
    """

    def __init__(self, mode: str | None) -> None:
        self.mode = mode
        if mode == "rgb_array":
            load_drawing()  # so that a missing Pillow is said when the environment is made

    def render(self, games: np.ndarray, slot: int, rules, view: int | None) -> str | np.ndarray | None:
        """games[slot] as text ("ansi"), printed ("human": None), or drawn ("rgb_array"), as `view` may see it (None: all)."""
        if self.mode == "rgb_array":
            return load_drawing().draw_table(games, slot, rules, view)
        text = render_table(games, slot, rules, view)
        if self.mode == "ansi":
            return text
        print(text, end="\n\n")
        return None
