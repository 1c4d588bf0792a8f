"""The tables of docs/rules.md that are made from the model and the presets.

``python -m hf_env.rules.document`` rewrites them in place; a test compares.
"""

import re
from pathlib import Path
from typing import Any

from pydantic.fields import FieldInfo

from hf_env.rules.errors import shown
from hf_env.rules.loading import diff_rules, list_rules, load_rules
from hf_env.rules.ruleset import CardPoints, RuleSet

DOCUMENT = Path(__file__).parents[2] / "docs" / "rules.md"


def options_table() -> str:
    """One row an option: key, what is allowed, default, meaning."""
    defaults = load_rules().resolved()
    rows = ["| key | allowed | default | meaning |", "|---|---|---|---|"]
    for key, field in RuleSet.model_fields.items():
        if key == "points":
            rows += [
                _row(f"points.{kind}", inner, defaults["points"][kind], f"points of {inner.description}")
                for kind, inner in CardPoints.model_fields.items()
            ]
        else:
            rows.append(_row(key, field, defaults[key], str(field.description)))
    return "\n".join(rows)


def presets_table() -> str:
    """One row a preset: what differs from whitnack."""
    base = load_rules()
    rows = ["| rule set | differs from whitnack in |", "|---|---|"]
    for name in list_rules():
        changes = [f"`{key} = {shown(value)}`" for key, _, value in diff_rules(base, load_rules(name))]
        rows.append(f"| `{name}` | {', '.join(changes) or 'nothing: it is the default'} |")
    return "\n".join(rows)


def with_tables(text: str) -> str:
    """The document with its generated blocks made anew.

    Raises:
        ValueError: Where a block's markers are missing.
    """
    for name, table in (("options", options_table()), ("presets", presets_table())):
        begin, end = f"<!-- generated: {name} -->", f"<!-- end of {name} -->"
        pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
        if not pattern.search(text):
            raise ValueError(f"the document has no block {begin} ... {end}")
        block = f"{begin}\n{table}\n{end}"
        before, after = pattern.split(text, maxsplit=1)
        text = before + block + after
    return text


def _row(key: str, field: FieldInfo, default: Any, meaning: str) -> str:
    extra = field.json_schema_extra
    allowed = str(extra["allowed"]) if isinstance(extra, dict) else ""
    auto = str(extra.get("auto") or "") if isinstance(extra, dict) else ""
    return f"| `{key}` | {allowed} | {auto or f'`{shown(default)}`'} | {meaning} |"


def main() -> None:
    """Rewrite docs/rules.md."""
    DOCUMENT.write_text(with_tables(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"wrote the tables of {DOCUMENT}")


if __name__ == "__main__":
    main()
