"""Rule sets: every option of the game as validated data. See docs/rules.md."""

from hf_env.rules.errors import RulesError
from hf_env.rules.loading import RulesLike, diff_rules, list_rules, load_rules, parse_setting
from hf_env.rules.preset_files import preset_text
from hf_env.rules.ruleset import RULES_VERSION, CardPoints, RuleSet

__all__ = [
    "RULES_VERSION",
    "CardPoints",
    "RuleSet",
    "RulesError",
    "RulesLike",
    "diff_rules",
    "list_rules",
    "load_rules",
    "parse_setting",
    "preset_text",
]
