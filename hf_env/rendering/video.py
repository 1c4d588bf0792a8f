"""Films: pictures written as MP4 by the ffmpeg that the package imageio-ffmpeg brings."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import imageio_ffmpeg
from PIL import Image

# Widths and heights that H.264 takes: with the library's default of 16 it would stretch 600 to 608.
_BLOCK = 2
# Slightly better than the library's default of 5: at 5 the type of 10 pixels is smeared.
_QUALITY = 7


@contextmanager
def writer(path: str | os.PathLike[str], size: tuple[int, int], fps: int) -> Iterator[Callable[[Image.Image, int], None]]:
    """A function (picture, frames) that appends a picture to the film for a number of frames.

    Args:
        path: ends with .mp4.
        size: width and height in pixels, even.

    Raises:
        OSError: Of one line where ffmpeg cannot write.
    """
    film = imageio_ffmpeg.write_frames(
        os.fspath(path), size, fps=fps, quality=_QUALITY, macro_block_size=_BLOCK, ffmpeg_log_level="error",
        # The index first, so that a browser plays the film while it loads.
        output_params=["-movflags", "+faststart"],
    )  # fmt: skip
    film.send(None)

    def write(picture: Image.Image, frames: int) -> None:
        data = picture.convert("RGB").tobytes()
        for _ in range(frames):
            try:
                film.send(data)
            except OSError as error:  # several lines, with the whole command
                raise OSError(str(error).splitlines()[0]) from None

    try:
        yield write
    finally:
        film.close()
