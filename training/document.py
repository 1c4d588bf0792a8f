"""The table of settings in docs/training.md, made from the settings themselves.

``python -m training.document`` rewrites it in place; a test compares.
"""

from pathlib import Path

from pydantic import BaseModel

from agents.neural.base import NetworkConfig
from hf_env.fields import table
from hf_env.observation.document import with_tables
from training.config import TrainConfig

DOCUMENT = Path(__file__).parents[1] / "docs" / "training.md"


def settings_table() -> str:
    """One row a setting, those of the network after ``network``."""
    defaults = TrainConfig().to_json()
    rows: dict[str, tuple[type[BaseModel], str]] = {}
    for name in TrainConfig.model_fields:
        rows[name] = (TrainConfig, name)
        if name == "network":
            rows |= {f"network.{inner}": (NetworkConfig, inner) for inner in NetworkConfig.model_fields}
    network = defaults.pop("network")
    return table(rows, defaults | {f"network.{name}": value for name, value in network.items()})


def with_table(text: str) -> str:
    """The page with its table made anew.

    Raises:
        ValueError: Where the block's markers are missing.
    """
    return with_tables(DOCUMENT.name, text, {"settings": settings_table})


def main() -> None:
    """Rewrite docs/training.md."""
    DOCUMENT.write_text(with_table(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"wrote the table of {DOCUMENT}")


if __name__ == "__main__":
    main()
