"""``handfoot bench``: the engine's speed on this machine."""

from __future__ import annotations

import platform

import click

from training.cli_common import Failure, FiniteRange, load_rule_list, progress_bar, seed_option, set_option, several_rules_option


@click.command()
@click.option("--seconds", type=FiniteRange(0, 3600, min_open=True), default=5.0, show_default=True, help="How long to measure.")
@click.option("--games", "num_games", type=click.IntRange(1, 65536), default=256, show_default=True, help="Games side by side.")
@seed_option
@several_rules_option
@set_option
def bench(seconds: float, num_games: int, seed: int, rules: tuple[str, ...], settings: tuple[str, ...]) -> None:
    """Measure decisions a second on one core: random legal play, masks and full observations written."""
    import numba
    import numpy

    from hf_env import __version__
    from hf_env.actions import ACTIONS_VERSION
    from hf_env.observation.layout import LAYOUT_VERSION
    from hf_env.rules import RULES_VERSION
    from training.benchmark import run_benchmark

    sets = load_rule_list(rules, settings)
    try:
        with progress_bar("seconds") as report:
            result = run_benchmark(sets, seconds, num_games, seed, report)
    except RuntimeError as error:
        raise Failure(str(error)) from None
    click.echo(f"{result.decisions_per_second:,.0f} decisions a second on one core, random play ({', '.join(one.name for one in sets)})")
    click.echo(f"  engine alone    {result.engine_per_second:,.0f} a second; choosing actions took {result.sampling_share:.1%} of the time")
    click.echo(f"  written each    {result.num_actions} int8 of mask, {result.observation_width} int16 of observation")
    click.echo(
        f"  measured        {result.num_decisions:,} decisions of {result.num_games:,} games side by side in {result.seconds:.1f} s; "
        f"{result.deals_ended:,} deals and {result.games_ended:,} games ended"
    )
    click.echo(
        f"  versions        hf_env {__version__} (rules {RULES_VERSION}, observation {LAYOUT_VERSION}, actions {ACTIONS_VERSION}), "
        f"Python {platform.python_version()}, NumPy {numpy.__version__}, Numba {numba.__version__}, {platform.machine()}"
    )
