"""One step of many games in shared buffers: the one entry that the adapters call.

Everything that a caller may want of a step is written in the same pass over a game, while it is in the cache.
"""

import numpy as np

from hf_env.engine.action_ids import DISCARD
from hf_env.engine.jit import copy_record, entry, kernel, prefetch_record, prefetch_row
from hf_env.engine.lanes import count_bits
from hf_env.engine.lay_downs import legal_bits, nth_legal
from hf_env.engine.legality import write_mask
from hf_env.engine.purposes import FOR_ACTION, FOR_DEAL_NUMBER, FOR_GAME, FOR_RULES
from hf_env.engine.rewards import SHAPING_NONE, start_potential, write_rewards
from hf_env.engine.rng import below, combine, stream
from hf_env.engine.state import PHASE_OVER
from hf_env.engine.transitions import apply_action, next_deal, start_game
from hf_env.observation.encoder import SAME_DEAL, SAME_TURN, STALE, write_observation, write_state

# What a pass does with each game.
MODE_STEP, MODE_START, MODE_REFRESH, MODE_DRAW = 0, 1, 2, 3
# Places of the settings array, int64.
MODE, SEED, EXPLICIT_SEEDS, REWARD, SHAPING, AUTORESET, SINGLE_DEAL, FIXED_DEAL, EVENTS, OBSERVE, MAX_DECISIONS = range(11)
NUM_SETTINGS = 11
# What a pass returns: OK, or a code and the slot.
OK, ILLEGAL, OVERFLOW = 0, 1, 2


@kernel
def game_seed(seed, slot, number):
    """Seed of the n-th game of a slot: a function of (seed, slot, number) only, 0 to 2**63 - 1."""
    return np.int64(stream(seed, FOR_GAME, slot, number) >> np.uint64(1))


@kernel
def _start(games, rules, settings, slot, explicit_seed, game_seeds, game_numbers, deck):
    """Start the slot's next game, of the seed in game_seeds if it is explicit."""
    if explicit_seed:
        seed = game_seeds[slot]
    else:
        seed = game_seed(settings[SEED], slot, game_numbers[slot])
        game_seeds[slot] = seed
    game_numbers[slot] += 1
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
def _settle(g, r, shaping, slot, deal_scores, end_reasons, ended, deck):
    """Note the results of the deal that ended; deal the next one unless the game is over."""
    end_reasons[slot] = g["end_reason"]
    for side in range(int(r["sides"])):
        deal_scores[slot, side] = g["deal_scores"][side]
    copy_record(ended[slot], g)
    if not g["game_over"]:
        next_deal(g, r, deck)
        start_potential(g, r, shaping)


@kernel
def first_illegal(low, high, masks, actions, chosen, terminated, truncated, settings):
    """First chosen slot of low..high-1 whose action is not legal, -1 if all are; games that are over and stay so are passed over."""
    for slot in range(low, high):
        action = actions[slot]
        if chosen[slot] == 0 or (not settings[AUTORESET] and (terminated[slot] or truncated[slot])):
            continue
        if action < 0 or action >= masks.shape[1] or masks[slot, action] == 0:
            return slot
    return -1


@entry
def find_illegal(masks, actions, chosen, terminated, truncated, settings):
    """As ``first_illegal``, of all slots."""
    return first_illegal(0, actions.shape[0], masks, actions, chosen, terminated, truncated, settings)


@kernel
def draw_actions(low, high, chosen, masks, game_seeds, decisions, actions):
    """A legal action of each chosen game of low..high-1, each as likely, by its seed and the number of its decision; 0 for none."""
    for slot in range(low, high):
        if chosen[slot] != 0:
            low, high = legal_bits(masks[slot])
            number = count_bits(low) + count_bits(high)
            actions[slot] = 0
            if number > 0:
                actions[slot] = nth_legal(low, high, below(combine(combine(game_seeds[slot], FOR_ACTION), decisions[slot]), number))


@kernel
def pass_over(
    low, high, games, rules, settings, search, chosen, actions, game_seeds, game_numbers, decisions, tmp, plans, deck, change,
    observations, masks, seats, rewards, terminated, truncated, deal_ended, deal_scores, end_reasons, ended, final,
):  # fmt: skip
    """Step, start or refresh every game of low..high-1 with chosen[slot] != 0 and write its buffers. search: as write_mask.

    Returns OK or the slot + 1 of a game whose scores do not fit into int16.
    """
    mode = settings[MODE]
    overflow = 0
    for slot in range(low, high):
        if chosen[slot] == 0:
            continue
        g = games[slot]
        r = rules[g["rule"]]
        if slot + 1 < games.shape[0]:
            prefetch_record(games[slot + 1])
            if actions[slot + 1] >= DISCARD and settings[OBSERVE]:
                # Another seat's observation will be written over the whole row.
                prefetch_row(observations[slot + 1])
        seat_before = g["to_move"]
        if mode == MODE_START:
            _start(games, rules, settings, slot, settings[EXPLICIT_SEEDS] != 0, game_seeds, game_numbers, deck)
            terminated[slot] = False
            truncated[slot] = False
            deal_ended[slot] = False
            decisions[slot] = 0
            for seat in range(rewards.shape[1]):
                rewards[slot, seat] = 0.0
        elif mode == MODE_STEP:
            if not settings[AUTORESET] and (terminated[slot] or truncated[slot]):
                for seat in range(rewards.shape[1]):
                    rewards[slot, seat] = 0.0
                deal_ended[slot] = False
                continue
            apply_action(g, r, actions[slot])
            if g["phase"] == PHASE_OVER or settings[SHAPING] != SHAPING_NONE:
                write_rewards(g, r, settings[REWARD], settings[SHAPING], rewards[slot], change)
            else:
                for seat in range(rewards.shape[1]):
                    rewards[slot, seat] = 0.0
            over = g["phase"] == PHASE_OVER
            deal_ended[slot] = over
            if over:
                _settle(g, r, settings[SHAPING], slot, deal_scores, end_reasons, ended, deck)
            decisions[slot] += 1
            terminated[slot] = g["game_over"] != 0
            truncated[slot] = not terminated[slot] and decisions[slot] >= settings[MAX_DECISIONS]
            if settings[AUTORESET] and (terminated[slot] or truncated[slot]):
                for seat in range(int(r["players"])):
                    if write_observation(g, r, seat, final[slot, seat], settings[EVENTS], STALE) < 0:
                        overflow = slot + 1
                _start(games, rules, settings, slot, False, game_seeds, game_numbers, deck)
                decisions[slot] = 0
        seats[slot] = g["to_move"]
        r = rules[g["rule"]]
        write_mask(g, r, masks[slot], tmp, plans, search)
        if truncated[slot] and not settings[AUTORESET]:
            for action in range(masks.shape[1]):
                masks[slot, action] = 0
        if settings[OBSERVE]:
            held = STALE
            if mode == MODE_STEP and not deal_ended[slot] and not truncated[slot]:
                # A seat that moves again after its own action has drawn, taken or laid down.
                held = SAME_TURN if seat_before == g["to_move"] else SAME_DEAL
            if write_observation(g, r, int(g["to_move"]), observations[slot], settings[EVENTS], held) < 0:
                overflow = slot + 1
    return overflow


@entry
def run_games(
    games, rules, settings, search, chosen, actions, game_seeds, game_numbers, decisions, tmp, plans, deck, change,
    observations, masks, seats, rewards, terminated, truncated, deal_ended, deal_scores, end_reasons, ended, final,
):  # fmt: skip
    """As ``pass_over``, of all slots."""
    return pass_over(
        0, games.shape[0], games, rules, settings, search, chosen, actions, game_seeds, game_numbers, decisions, tmp, plans, deck, change,
        observations, masks, seats, rewards, terminated, truncated, deal_ended, deal_scores, end_reasons, ended, final,
    )  # fmt: skip


@entry
def draw_for_games(chosen, masks, game_seeds, decisions, actions):
    """As ``draw_actions``, of all slots."""
    draw_actions(0, chosen.shape[0], chosen, masks, game_seeds, decisions, actions)


@entry
def observe_games(games, rules, seats, out, events):
    """Write the observation (N, F) of one seat of each game. Returns OK or slot + 1 of an overflow."""
    for slot in range(games.shape[0]):
        if write_observation(games[slot], rules[games[slot]["rule"]], seats[slot], out[slot], events, STALE) < 0:
            return slot + 1
    return OK


@entry
def write_states(games, rules, out):
    """Write the state vector (N, G) of each game. Returns OK or slot + 1 of an overflow."""
    for slot in range(games.shape[0]):
        if write_state(games[slot], rules[games[slot]["rule"]], out[slot]) < 0:
            return slot + 1
    return OK
