"""A game as a drawn table of 800 x 600 pixels, from one seat's view or with all cards open. Needs no display."""

from functools import lru_cache

import numpy as np
from PIL import Image

from hf_env.engine.access import open_points
from hf_env.engine.cards import BLACK3, JOKER, NUM_NATURALS, RED3, TWO, WILD
from hf_env.engine.state import PHASE_ANSWER, PHASE_DRAW, PHASE_OVER
from hf_env.rendering import sprites as s
from hf_env.rendering.ansi import END_WORDS, SHOWN_PILE, headline, last_action
from hf_env.rules import RuleSet

# Raised when a picture of the same table changes, with an entry in the changelog; tests/rendering holds hashes of six.
PICTURE_VERSION = 1
WIDTH, HEIGHT = 800, 600
_GAP = 6
_TALL = 110  # panels of sides that are higher have larger cards and two rows of books
_HEAD = 30
# From top to bottom: headline, sides, the middle with stock and pile, then the seats and the open hand, or all hands.
_SIDES, _MIDDLE, _SEATS, _HAND = (34, 326), (332, 422), (428, 500), (506, 594)


def draw_table(games: np.ndarray, slot: int, rules: RuleSet, view: int | None) -> np.ndarray:
    """The table of games[slot] as (600, 800, 3) uint8, RGB.

    Args:
        view: the seat whose hand is shown and who is marked as "you"; None shows all hands and feet.
    """
    return np.array(table_image(games, slot, rules, view))


def table_image(games: np.ndarray, slot: int, rules: RuleSet, view: int | None) -> Image.Image:
    """As `draw_table`, a Pillow image."""
    return _Table(games, slot, rules, view).draw()


@lru_cache(16)
def _record(rules: RuleSet) -> np.ndarray:
    return rules.to_record()


class _Table:
    """One picture while it is drawn."""

    def __init__(self, games: np.ndarray, slot: int, rules: RuleSet, view: int | None) -> None:
        self.g, self.rules, self.view = games[slot], rules, view
        g, sides = self.g, range(rules.num_sides)
        self.totals = [int(g["scores"][side]) for side in sides]
        self.over = int(g["phase"]) == PHASE_OVER
        record = _record(rules)
        # A deal that has ended is in the totals.
        self.open = [0 if self.over else int(open_points(games, slot, record, 0, side)) for side in sides]
        self.image = Image.new("RGB", (WIDTH, HEIGHT), s.TABLE)

    def draw(self) -> Image.Image:
        self.headline()
        for side in range(self.rules.num_sides):
            self.side(side)
        self.middle()
        if self.view is None:
            self.all_hands()
        else:
            for seat in range(self.rules.players):
                self.seat(seat)
            self.own_hand()
        return self.image

    # ---------------------------------------------------------------------------------------- small pieces

    def put(self, sprite: Image.Image, x: float, y: float) -> None:
        self.image.paste(sprite, (round(x), round(y)), sprite)

    def text(self, x, y, text, size=13, fill=s.WHITE, anchor="la", bold=False) -> float:
        """Write; returns the width.

        Args:
            anchor: "l" or "m" for x at the left or middle or "r"; "a" or "m" for y.
        """
        sprite, width, above = s.words(text, size, fill, bold)
        self.put(sprite, x - width * {"l": 0, "m": 0.5, "r": 1}[anchor[0]], y - (above if anchor[1] == "m" else 0))
        return width

    def fan(self, kinds: list[int], x: float, y: float, card: tuple[int, int], room: float, step: float) -> float:
        """Cards side by side, closer where there is little room.

        Returns:
            The width used.
        """
        if len(kinds) > 1:
            step = min(step, (room - card[0]) / (len(kinds) - 1))
        for i, kind in enumerate(kinds):
            covered = step < card[0] * 0.9 and i < len(kinds) - 1
            self.put(s.card(kind, *card, covered), x + i * step, y)
        return card[0] + step * (len(kinds) - 1) if kinds else 0

    def tag(self, x: float, y: float, text: str, right: bool = False) -> float:
        """A golden label of 16 pixels in height.

        Args:
            x: its left edge, or its right one.

        Returns:
            The width.
        """
        width = round(s.font(11).getlength(text)) + 12
        self.put(s.panel(width, 16, s.GOLD, radius=8), x - width * right, y)
        self.text(x - width * right + width / 2, y + 8, text, 11, s.INK, "mm", bold=True)
        return width

    # --------------------------------------------------------------------------------------------- headline

    def headline(self) -> None:
        self.text(10, _HEAD / 2, headline(self.g, self.rules), 14, s.WHITE, "lm", bold=True)
        self.text(WIDTH - 10, _HEAD / 2, self.rules.name, 13, s.PALE, "rm")

    # ------------------------------------------------------------------------------------------------ sides

    def side_box(self, side: int) -> tuple[int, int, int, int]:
        """x, y, width, height: one below the other, from four sides on in two columns."""
        sides = self.rules.num_sides
        columns = 1 if sides <= 3 else 2
        rows = -(-sides // columns)
        width = (WIDTH - _GAP * (columns + 1)) // columns
        height = (_SIDES[1] - _SIDES[0] - _GAP * (rows - 1)) // rows
        column, row = side % columns, side // columns
        return _GAP + column * (width + _GAP), _SIDES[0] + row * (height + _GAP), width, height

    def side(self, side: int) -> None:
        x, y, width, height = self.side_box(side)
        playing = not self.over and int(self.g["to_move"]) % self.rules.num_sides == side
        self.put(s.panel(width, height, s.PANEL, s.GOLD if playing else s.LINE, 2 if playing else 1), x, y)
        self.put(s.panel(6, height - 16, s.SIDES[side], radius=3), x + 7, y + 8)
        label = 168 if width > 500 else 112
        self.side_label(side, x + 20, y + 6, label - 24, height)
        tall = height > _TALL
        self.table_cards(side, x + label, y + 6, width - label - 8, height - 12, (32, 44) if tall else (25, 34))

    def side_label(self, side: int, x: int, y: int, width: int, height: int) -> None:
        g = self.g
        seats = ", ".join(str(seat) for seat in range(side, self.rules.players, self.rules.num_sides))
        name = self.text(x, y, f"Side {side}", 15, s.SIDES[side], bold=True)
        many = self.rules.num_sides < self.rules.players
        now = [total + points for total, points in zip(self.totals, self.open, strict=True)]
        leads = now[side] == max(now) and now.count(now[side]) < len(now)
        wide = width > 120
        at = x + name + 6
        if wide and many:
            at += self.text(at, y + 2, f"seats {seats}", 12, s.PALE) + 8
        if not g["opened"][side] and not self.over and not self.melds(side):
            self.text(at, y + 2, "not opened", 12, s.PALE)
        number = self.text(x, y + 18, f"{now[side]:,}", 24, s.WHITE, bold=True)
        if leads:
            self.put(s.star(15, s.GOLD), x + number + 6, y + 23)
            if wide:
                self.text(x + number + 24, y + 24, "leads", 12, s.GOLD, bold=True)
        if not self.over:
            self.text(x, y + 46, f"{self.totals[side]:,} + {self.open[side]:,}{' on table' * wide}", 12, s.PALE)
        tall = height > _TALL
        size = (22, 31) if tall else (13, 18)
        self.fan([RED3] * int(g["red3"][side]), x, y + (74 if tall else 64), size, width, size[0] + 2)

    def melds(self, side: int) -> list[list[int]]:
        """The cards of each open meld from back to front, wilds behind."""
        g, found = self.g, []
        for rank in range(NUM_NATURALS + 1):
            naturals, twos, jokers = (int(g[name][side, rank]) for name in ("naturals", "twos", "jokers"))
            cards = [JOKER] * jokers + [TWO] * twos + ([] if rank == WILD else [rank] * naturals)
            if cards:
                found.append(cards)
        return found

    def books(self, side: int) -> list[tuple[str, int | None, int]]:
        """Each kind of book: its name, rank and number."""
        g = self.g
        found: list[tuple[str, int | None, int]] = []
        for name, field in (("clean", "clean_books"), ("dirty", "dirty_books")):
            counts = [(rank, int(g[field][side, rank])) for rank in range(NUM_NATURALS)]
            found += [(name, rank, count) for rank, count in counts if count]
        if g["clean_books"][side, WILD]:
            found.append(("wild", None, int(g["clean_books"][side, WILD])))
        return found

    def table_cards(self, side: int, x: int, y: int, width: int, height: int, card: tuple[int, int]) -> None:
        """Melds as columns from the left, books in one or two rows from the right."""
        melds, books = self.melds(side), self.books(side)
        tall = height > _TALL
        rows = 2 if tall or len(books) > 6 else 1
        size = (42, 52) if tall else (40, 54) if rows == 1 else (34, 37)
        columns = -(-len(books) // rows)
        step = min(size[0] + 5, max(size[0] * 0.5, width * 0.5 / columns)) if columns else 0
        right = x + width - (step * (columns - 1) + size[0] if columns else 0)
        for i, (name, rank, count) in enumerate(books):
            at = right + (i % columns) * step
            top = y + (height - rows * size[1] - (rows - 1) * 4) // 2 + (i // columns) * (size[1] + 4)
            self.put(s.book(name, rank, *size), at, top)
            if count > 1:
                self.put(s.panel(18, 14, s.WHITE, s.INK, radius=7), at + size[0] - 20, top - 1)
                self.text(at + size[0] - 11, top + 6, f"x{count}", 10, s.INK, "mm", bold=True)
        room = right - x - (12 if columns else 0)
        apart = min(card[0] + 14, (room - card[0]) / max(len(melds) - 1, 1))
        for i, cards in enumerate(melds):
            self.meld(cards, x + i * apart, y, height - 15, card)

    def meld(self, cards: list[int], x: float, y: int, height: int, card: tuple[int, int]) -> None:
        step = min(card[1] * 0.32, (height - card[1]) / max(len(cards) - 1, 1))
        for i, kind in enumerate(cards):
            self.put(s.card(kind, *card), x, y + i * step)
        self.text(x + card[0] / 2, y + height + 9, f"{len(cards)}/{self.rules.book_size}", 11, s.PALE, "mm")

    # ----------------------------------------------------------------------------------------------- middle

    def middle(self) -> None:
        g, top = self.g, _MIDDLE[0]
        height = _MIDDLE[1] - top
        card = (46, 64)
        stock = int(g["stock_end"]) - int(g["stock_next"])
        self.text(14, top + 2, f"Stock: {stock}", 13, s.WHITE, bold=True)
        for depth in range(min(3, stock)):
            self.put(s.back(*card, s.HAND_BACK), 14 + 3 * depth, top + 20 + depth)
        size = int(g["discard_size"])
        shown = g["discard"][max(size - SHOWN_PILE, 0) : size][::-1]
        below = size - len(shown)
        words = f"Discard pile: {size}, top at the left" if size > 1 else f"Discard pile: {size}"
        self.text(92, top + 2, words, 13, s.WHITE, bold=True)
        for i in range(1, len(shown)):
            self.put(s.card(int(shown[i]), 32, 45), 110 + i * 34, top + 35)
        if len(shown):
            self.put(s.card(int(shown[0]), *card), 92, top + 20)
        if below:
            self.text(356, top + 26, f"{below} below", 12, s.PALE, "rm")
        self.banner(364, top, WIDTH - 364 - _GAP, height)

    def banner(self, x: int, y: int, width: int, height: int) -> None:
        """Whose turn it is, or how the deal ended, and the last action."""
        g, rules = self.g, self.rules
        self.put(s.panel(width, height, s.PANEL, s.LINE), x, y)
        if self.over:
            self.deal_end(x, y, width)
        else:
            seat = int(g["to_move"])
            self.put(s.arrow(20, s.GOLD), x + 14, y + 12)
            name = self.text(x + 44, y + 10, f"Seat {seat}", 22, s.SIDES[seat % rules.num_sides], bold=True)
            self.text(x + 52 + name, y + 10, self.task(), 22, s.WHITE, bold=True)
            self.text(x + 44, y + 40, self.state_of_turn(), 13, s.PALE)
        last = last_action(g)
        if last:
            self.text(x + 14 if self.over else x + 44, y + height - 24, f"Last action: {last}", 14, s.PALE)

    def task(self) -> str:
        phase = int(self.g["phase"])
        if phase == PHASE_ANSWER:
            return f"answers: may seat {int(self.g['turn_seat'])} go out?"
        return "draws or takes the pile" if phase == PHASE_DRAW else "lays down or discards"

    def state_of_turn(self) -> str:
        """What has been reached in a turn: points of an opening, or what the partner answered."""
        g = self.g
        if g["laid"] or g["taking"]:
            return f"Opening: {int(g['laid'])} of {self.rules.opening_minimum(int(g['deal']))} points laid"
        if not g["asked"] or int(g["phase"]) == PHASE_ANSWER:
            return ""
        return "Asked to go out, and may" if g["may_go_out"] else "Asked to go out; the answer was no"

    def deal_end(self, x: int, y: int, width: int) -> None:
        g, sides = self.g, range(self.rules.num_sides)
        who = f"seat {int(g['out_seat'])} " if g["out_seat"] >= 0 else ""
        what = "Game over" if g["game_over"] else "Deal over"
        self.text(x + 14, y + 8, f"{what}: {who}{END_WORDS[int(g['end_reason'])]}", 16, s.GOLD, bold=True)
        self.text(x + 14, y + 36, "This deal:", 14, s.WHITE)
        room = (width - 100) / len(sides)
        for side in sides:
            score = f"{int(g['deal_scores'][side]):+,}"
            self.text(x + 90 + side * room, y + 36, score, 14, s.SIDES[side], bold=True)

    # ------------------------------------------------------------------------------------------------ seats

    def is_mover(self, seat: int) -> bool:
        return not self.over and int(self.g["to_move"]) == seat

    def seat(self, seat: int) -> None:
        """A seat from outside: sizes of its hand and foot, and the cards that are publicly known in its hand."""
        g, players = self.g, self.rules.players
        width = (WIDTH - _GAP * (players + 1)) // players
        x, y, height = _GAP + seat * (width + _GAP), _SEATS[0], _SEATS[1] - _SEATS[0]
        mover = self.is_mover(seat)
        self.put(s.panel(width, height, s.PANEL, s.GOLD if mover else s.LINE, 3 if mover else 1), x, y)
        self.put(s.panel(width - 12, 4, s.SIDES[seat % self.rules.num_sides], radius=2), x + 6, y + 5)
        name = self.text(x + 9, y + 11, f"Seat {seat}", 14, s.WHITE, bold=True)
        if mover:
            self.tag(x + width - 7, y + 11, "your move" if seat == self.view else "to move", right=True)
        elif seat == self.view:
            self.text(x + 15 + name, y + 12, "you", 12, s.GOLD)
        self.packet(x + 9, y + 32, int(g["hand_sizes"][seat]), s.FOOT_BACK if g["in_foot"][seat] else s.HAND_BACK)
        wide = width > 150
        if g["in_foot"][seat]:
            self.text(x + 43, y + 50, "in the foot" if wide else "in foot", 12, s.GOLD, "lm")
            edge = 112
        else:
            self.packet(x + 40, y + 32, int(g["foot_sizes"][seat]), s.FOOT_BACK)
            edge = 76
        known = [kind for kind in range(BLACK3 + 1) for _ in range(int(g["known"][seat, kind]))]
        if known and seat != self.view:
            room = width - edge - 8
            self.text(x + edge, y + 33, "known" if room < 80 else "known to hold", 10, s.PALE)
            self.fan(known, x + edge, y + 45, (16, 22), room, 13)

    def packet(self, x: int, y: int, number: int, colour: s.Colour) -> None:
        """A back with the number of cards."""
        if number:
            self.put(s.back(27, 36, colour), x, y)
        self.put(s.panel(21, 16, s.INK, radius=5), x + 3, y + 10)
        self.text(x + 13.5, y + 18, str(number), 12, s.WHITE, "mm", bold=True)

    def hand_cards(self, seat: int, field: str = "hands") -> list[int]:
        counts = self.g[field][seat]
        return [kind for kind in range(RED3 + 1) for _ in range(int(counts[kind]))]

    def own_hand(self) -> None:
        x, y, height = _GAP, _HAND[0], _HAND[1] - _HAND[0]
        seat = self.view
        assert seat is not None
        mover = self.is_mover(seat)
        self.put(s.panel(WIDTH - 2 * _GAP, height, s.PANEL, s.GOLD if mover else s.LINE, 2 if mover else 1), x, y)
        cards = self.hand_cards(seat)
        self.text(x + 12, y + 24, f"Seat {seat}", 15, s.SIDES[seat % self.rules.num_sides], bold=True)
        self.text(x + 12, y + 44, f"{len(cards)} in hand", 12, s.PALE)
        self.fan(cards, x + 92, y + 10, (48, 68), WIDTH - 2 * _GAP - 104, 50)

    def all_hands(self) -> None:
        """Every seat's hand and foot, a row each."""
        g, players = self.g, self.rules.players
        room = _HAND[1] - _SEATS[0]
        height = min(60, (room - (players - 1) * 3) // players)
        card = (round((height - 4) * 0.72), height - 4)
        for seat in range(players):
            x, y = _GAP, _SEATS[0] + seat * (height + 3)
            mover = self.is_mover(seat)
            self.put(s.panel(WIDTH - 2 * _GAP, height, s.PANEL, s.GOLD if mover else s.LINE, 2 if mover else 1, 5), x, y)
            self.put(s.panel(6, height - 8, s.SIDES[seat % self.rules.num_sides], radius=3), x + 5, y + 4)
            if mover:
                self.put(s.arrow(11, s.GOLD), x + 16, y + height / 2 - 5)
            self.text(x + 31, y + height / 2, f"Seat {seat}", 13, s.WHITE, "lm", bold=True)
            self.fan(self.hand_cards(seat), x + 84, y + 2, card, 424, card[0] + 2)
            if g["in_foot"][seat]:
                self.text(x + 520, y + height / 2, "in the foot", 12, s.GOLD, "lm")
            else:
                self.text(x + 520, y + height / 2, "foot", 12, s.PALE, "lm")
                self.fan(self.hand_cards(seat, "feet"), x + 552, y + 2, card, 228, card[0] + 2)
