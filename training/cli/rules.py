"""``handfoot rules``: the rule sets that there are, one of them, a file of one's own, and what differs."""

from __future__ import annotations

import click

from hf_env.rules import CardPoints, RulesError, RuleSet, diff_rules, list_rules, load_rules, preset_text
from hf_env.rules.errors import shown
from training.cli.common import Commands, Mistake, load_rule_set, require_command, set_option


@click.group(cls=Commands, invoke_without_command=True)
@click.pass_context
def rules(context: click.Context) -> None:
    """List, show, check and compare rule sets."""
    require_command(context)


@rules.command("list")
def list_command() -> None:
    """List the rule sets that come with the package."""
    sets = [load_rules(name) for name in list_rules()]
    width = max(len(rule_set.name) for rule_set in sets)
    for rule_set in sets:
        click.echo(f"{rule_set.name:{width}}  {_table(rule_set)}; {_game(rule_set)}")


@rules.command()
@click.argument("name")
@set_option
@click.option("--source", is_flag=True, help="A named set's file as it was written, with its comments and sources.")
def show(name: str, settings: tuple[str, ...], source: bool) -> None:
    """Show every option of the rule set NAME (a name or a TOML file), as a TOML file that may be edited."""
    if source:
        if settings:
            raise Mistake("--source shows a file as it is; leave out --set")
        try:
            click.echo(preset_text(name), nl=False)
        except RulesError as error:
            raise Mistake(str(error)) from None
        return
    rule_set = load_rule_set(name, settings)
    click.echo(f"# {rule_set.name}: {_table(rule_set)}; fingerprint {rule_set.fingerprint}")
    click.echo(_commented(rule_set), nl=False)


@rules.command()
@click.argument("file")
@set_option
def check(file: str, settings: tuple[str, ...]) -> None:
    """Check the rule set FILE: exit code 0 and what it is, or 2 and what is wrong with it."""
    rule_set = load_rule_set(file, settings)
    changes = len(diff_rules(load_rules(rule_set.preset), rule_set))
    changed = f"{changes} option{'s' * (changes != 1)} changed" if changes else "nothing changed"
    click.echo(f"valid: {_table(rule_set)}; {_game(rule_set)}")
    click.echo(f"based on {rule_set.preset}, {changed}; fingerprint {rule_set.fingerprint}")


@rules.command()
@click.argument("a")
@click.argument("b")
def diff(a: str, b: str) -> None:
    """Show the options in which the rule sets A and B (names or TOML files) differ."""
    differences = diff_rules(load_rule_set(a, ()), load_rule_set(b, ()))
    if not differences:
        click.echo("they play the same")
        return
    rows = [("", a, b)] + [(key, shown(left), shown(right)) for key, left, right in differences]
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    for row in rows:
        click.echo(f"{row[0]:{widths[0]}}  {row[1]:{widths[1]}}  {row[2]}".rstrip())


def _table(rule_set) -> str:
    seated = {"pairs": "in pairs", "threes": "in two teams of three", "alone": "each alone"}[rule_set.seating]
    return f"{rule_set.players} players {seated}, {rule_set.decks} deck{'s' * (rule_set.decks != 1)}"


def _game(rule_set) -> str:
    clean, dirty, wild = rule_set.quota(1)
    length = f"to {rule_set.target:,} points" if rule_set.target is not None else f"{rule_set.deals} deal{'s' * (rule_set.deals != 1)}"
    return f"{length}, opening from {rule_set.opening_minimum(1)}, out with {clean} clean, {dirty} dirty, {wild} wild books"


def _commented(rule_set) -> str:
    """Every option as TOML, each with what it means and what is allowed."""
    lines = []
    for line in rule_set.to_toml(complete=True).splitlines():
        key = line.partition(" = ")[0]
        group, _, member = key.partition(".")
        field = CardPoints.model_fields[member] if member else RuleSet.model_fields[group]
        extra = field.json_schema_extra
        assert isinstance(extra, dict)
        lines += [f"# {field.description}: {extra['allowed']}", line]
    return "\n".join(lines) + "\n"
