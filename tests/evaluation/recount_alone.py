"""Totals of a report's matches from its records, with nothing of the project's code: run as a script on a report folder.

Prints a JSON object, title -> [deals, points a deal more of the measured side, share of games won].
"""

import gzip
import json
import sys
from collections import defaultdict
from fractions import Fraction
from pathlib import Path


def totals(folder: Path) -> dict[str, list[float]]:
    """See above."""
    deals, points, games, won = defaultdict(int), defaultdict(Fraction), defaultdict(int), defaultdict(Fraction)
    for path in sorted((folder / "records").iterdir()):
        with gzip.open(path, "rt") as file:
            for line in file:
                record = json.loads(line)
                title, side = record["match"]["title"], record["match"]["side"]
                scores = [deal["scores"] for deal in record["deals"]]
                if "forfeit" in record:
                    scores = [record["forfeit"]["scores"]] * record["forfeit"]["deals"]
                whole = [sum(column) for column in zip(*scores, strict=True)]
                games[title] += 1
                deals[title] += len(scores)
                rest = [total for number, total in enumerate(whole) if number != side]
                points[title] += whole[side] - Fraction(sum(rest), len(rest))
                if whole[side] == max(whole):
                    won[title] += Fraction(1, whole.count(max(whole)))
    return {title: [deals[title], float(points[title] / deals[title]), float(won[title] / games[title])] for title in games}


if __name__ == "__main__":
    print(json.dumps(totals(Path(sys.argv[1]))))
