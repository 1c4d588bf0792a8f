"""One step of many games in shared buffers: the one entry that the adapters call.

Everything that a caller may want of a step is written in the same pass over a game, while it is in the cache.
"""

from typing import NamedTuple

import numpy as np

from hf_env.engine.action_ids import DISCARD
from hf_env.engine.lay_downs import legal_bits, nth_legal
from hf_env.engine.legality import write_mask
from hf_env.engine.purposes import FOR_ACTION, FOR_DEAL_NUMBER, FOR_GAME, FOR_RULES
from hf_env.engine.rewards import SHAPING_NONE, start_potential, write_rewards
from hf_env.engine.rng import below, combine, stream
from hf_env.engine.state import PHASE_OVER
from hf_env.engine.transitions import apply_action, next_deal, start_game
from hf_env.engine.workspace import Workspace
from hf_env.kernels.compile import copy_record, entry, kernel, prefetch_record, prefetch_row
from hf_env.kernels.lanes import count_bits
from hf_env.observation.encoder import SAME_DEAL, SAME_TURN, STALE, write_observation, write_state

# What a pass does with each game.
MODE_STEP, MODE_START, MODE_REFRESH, MODE_DRAW = 0, 1, 2, 3
# Places of the settings array, int64.
MODE, SEED, EXPLICIT_SEEDS, REWARD, SHAPING, AUTORESET, SINGLE_DEAL, FIXED_DEAL, EVENTS, OBSERVE, MAX_DECISIONS = range(11)
NUM_SETTINGS = 11


class Slots(NamedTuple):
    """What belongs to each of N slots beside its game's record."""

    actions: np.ndarray  # (N,) int64, to be played next
    game_seeds: np.ndarray  # (N,) int64, of the game in progress
    game_numbers: np.ndarray  # (N,) int64, games started so far
    decisions: np.ndarray  # (N,) int64, made in the game in progress


class Buffers(NamedTuple):
    """What a pass writes of each of N games with S seats and D sides; see VectorGame."""

    observations: np.ndarray  # (N, F) int16
    masks: np.ndarray  # (N, 127) int8
    seats: np.ndarray  # (N,) int32
    rewards: np.ndarray  # (N, S) float32
    terminated: np.ndarray  # (N,) bool
    truncated: np.ndarray  # (N,) bool
    deal_ended: np.ndarray  # (N,) bool
    deal_scores: np.ndarray  # (N, D) int32
    end_reasons: np.ndarray  # (N,) int32
    ended: np.ndarray  # (N,) GAME_DTYPE
    final: np.ndarray  # (N or 0, S, F) int16


class Work(NamedTuple):
    """What one thread of a pass works in."""

    space: Workspace
    change: np.ndarray  # (MAX_SEATS,) int64, of write_rewards


@kernel
def game_seed(seed, slot, number):
    """Seed of the n-th game of a slot: a function of (seed, slot, number) only, 0 to 2**63 - 1."""
    return np.int64(stream(seed, FOR_GAME, slot, number) >> np.uint64(1))


@kernel
def _start(games, rules, settings, slot, explicit_seed, slots, deck):
    """Start the slot's next game, of the seed in slots.game_seeds if it is explicit."""
    if explicit_seed:
        seed = slots.game_seeds[slot]
    else:
        seed = game_seed(settings[SEED], slot, slots.game_numbers[slot])
        slots.game_seeds[slot] = seed
    slots.game_numbers[slot] += 1
    rule = np.int64(0)
    if rules.shape[0] > 1:
        rule = below(stream(seed, FOR_RULES, 0, 0), rules.shape[0])
    r = rules[rule]
    deal = np.int64(1)
    if settings[SINGLE_DEAL]:
        deal = settings[FIXED_DEAL]
        if deal == 0:
            deal = 1 + below(stream(seed, FOR_DEAL_NUMBER, 0, 0), int(r["deals"]))
    start_game(games[slot], r, rule, seed, deal, settings[SINGLE_DEAL], deck)
    start_potential(games[slot], r, settings[SHAPING])


@kernel
def _settle(g, r, shaping, slot, buffers, deck):
    """Note the results of the deal that ended; deal the next one unless the game is over."""
    buffers.end_reasons[slot] = g["end_reason"]
    for side in range(int(r["sides"])):
        buffers.deal_scores[slot, side] = g["deal_scores"][side]
    copy_record(buffers.ended[slot], g)
    if not g["game_over"]:
        next_deal(g, r, deck)
        start_potential(g, r, shaping)


@entry
def find_illegal(settings, chosen, actions, masks, terminated, truncated):
    """First chosen slot whose action is not legal, -1 if all are; games that are over and stay so are passed over."""
    for slot in range(chosen.shape[0]):
        action = actions[slot]
        if chosen[slot] == 0 or (not settings[AUTORESET] and (terminated[slot] or truncated[slot])):
            continue
        if action < 0 or action >= masks.shape[1] or masks[slot, action] == 0:
            return slot
    return -1


@entry
def draw_actions(chosen, actions, game_seeds, decisions, masks):
    """A legal action of each chosen game, each as likely, by its seed and the number of its decision; 0 for none."""
    for slot in range(chosen.shape[0]):
        if chosen[slot] != 0:
            low, high = legal_bits(masks[slot])
            number = count_bits(low) + count_bits(high)
            actions[slot] = 0
            if number > 0:
                key = combine(combine(game_seeds[slot], FOR_ACTION), decisions[slot])
                actions[slot] = nth_legal(low, high, below(key, number))


@kernel
def _fetch_next(slot, games, settings, slots, buffers):
    """Have the next slot's game come into the processor's cache meanwhile."""
    if slot + 1 < games.shape[0]:
        prefetch_record(games[slot + 1])
        if slots.actions[slot + 1] >= DISCARD and settings[OBSERVE]:
            # Another seat's observation will be written over the whole row.
            prefetch_row(buffers.observations[slot + 1])


@kernel
def _begin(slot, games, rules, settings, slots, buffers, work):
    """Start the slot's next game, with nothing paid yet."""
    _start(games, rules, settings, slot, settings[EXPLICIT_SEEDS] != 0, slots, work.space.deck)
    buffers.terminated[slot] = False
    buffers.truncated[slot] = False
    buffers.deal_ended[slot] = False
    slots.decisions[slot] = 0
    _pay_nothing(buffers.rewards[slot])


@kernel
def _pay_nothing(rewards):
    for seat in range(rewards.shape[0]):
        rewards[seat] = 0.0


@kernel
def _play(slot, games, rules, settings, slots, buffers, work):
    """Play the slot's action, pay it, and go on to the next deal or, with autoreset, game."""
    g = games[slot]
    r = rules[g["rule"]]
    apply_action(g, r, slots.actions[slot])
    over = g["phase"] == PHASE_OVER
    if over or settings[SHAPING] != SHAPING_NONE:
        write_rewards(g, r, settings[REWARD], settings[SHAPING], buffers.rewards[slot], work.change)
    else:
        _pay_nothing(buffers.rewards[slot])
    buffers.deal_ended[slot] = over
    if over:
        _settle(g, r, settings[SHAPING], slot, buffers, work.space.deck)
    slots.decisions[slot] += 1
    buffers.terminated[slot] = g["game_over"] != 0
    buffers.truncated[slot] = not buffers.terminated[slot] and slots.decisions[slot] >= settings[MAX_DECISIONS]
    if settings[AUTORESET] and (buffers.terminated[slot] or buffers.truncated[slot]):
        for seat in range(int(r["players"])):
            write_observation(g, r, seat, buffers.final[slot, seat], settings[EVENTS], STALE)
        _start(games, rules, settings, slot, False, slots, work.space.deck)
        slots.decisions[slot] = 0


@kernel
def _show(slot, g, r, held, settings, buffers, work):
    """Write the slot's mask and observation for the next decision.

    Args:
        held: of the observation that stands.
    """
    buffers.seats[slot] = g["to_move"]
    write_mask(g, r, buffers.masks[slot], work.space)
    if buffers.truncated[slot] and not settings[AUTORESET]:
        for action in range(buffers.masks.shape[1]):
            buffers.masks[slot, action] = 0
    if settings[OBSERVE]:
        write_observation(g, r, int(g["to_move"]), buffers.observations[slot], settings[EVENTS], held)


@entry
def run_games(block, games, rules, settings, chosen, tables, work):
    """Step, start or refresh every game of a block of slots with chosen[slot] != 0 and write its buffers.

    Args:
        block: (2,) int64, the first slot and the one after the last.
        games: (N,) GAME_DTYPE.
        rules: (R,) RULES_DTYPE.
        settings: (NUM_SETTINGS,) int64.
        chosen: (N,) int8.
        tables: Slots and Buffers.
        work: Work, of this thread.
    """
    slots, buffers = tables
    mode = settings[MODE]
    for slot in range(block[0], block[1]):
        if chosen[slot] == 0:
            continue
        _fetch_next(slot, games, settings, slots, buffers)
        g = games[slot]
        seat_before = g["to_move"]
        if mode == MODE_START:
            _begin(slot, games, rules, settings, slots, buffers, work)
        elif mode == MODE_STEP:
            if not settings[AUTORESET] and (buffers.terminated[slot] or buffers.truncated[slot]):
                _pay_nothing(buffers.rewards[slot])
                buffers.deal_ended[slot] = False
                continue
            _play(slot, games, rules, settings, slots, buffers, work)
        held = STALE
        if mode == MODE_STEP and not buffers.deal_ended[slot] and not buffers.truncated[slot]:
            # A seat that moves again after its own action has drawn, taken or laid down.
            held = SAME_TURN if seat_before == g["to_move"] else SAME_DEAL
        _show(slot, g, rules[g["rule"]], held, settings, buffers, work)


@entry
def observe_games(games, rules, seats, out, events):
    """Write the observation (N, F) of one seat of each game."""
    for slot in range(games.shape[0]):
        write_observation(games[slot], rules[games[slot]["rule"]], seats[slot], out[slot], events, STALE)


@entry
def write_states(games, rules, out):
    """Write the state vector (N, G) of each game."""
    for slot in range(games.shape[0]):
        write_state(games[slot], rules[games[slot]["rule"]], out[slot])
