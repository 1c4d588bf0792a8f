"""A network as a policy: samples from its distribution by the decision's key, or plays the likeliest action."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import torch

from agents.neural.base import PolicyValueNetwork
from agents.neural.masked_categorical import best_actions, masked_probabilities, sample_actions
from agents.neural.ranks.network import RankNetwork
from agents.neural.ranks.single_row import CompiledRanks, RankArrays
from agents.neural.sections import columns_here
from agents.policy import PolicyBatch, UntrainedRulesWarning, rule_sets, uniforms, untrained_rules
from hf_env.observation.layout import ObservationLayout
from hf_env.rules import RuleSet
from hf_env.suggest import did_you_mean

MODES = ("sample", "argmax")
# Rows are run through the network in pieces of this size: bounds memory, and keeps a piece in the cache.
_ROWS_AT_ONCE = 1024
# So few rows cost PyTorch more for its calls than for its arithmetic.
_FEW_ROWS = 24


def check_mode(mode: str) -> str:
    """The mode.

    Raises:
        ValueError: For one that is not of MODES.
    """
    if mode not in MODES:
        raise ValueError(f"unknown mode {mode!r} of a neural policy; known: {', '.join(MODES)}{did_you_mean(mode, MODES)}")
    return mode


class NeuralPolicy:
    """Plays a network.

    Args:
        network: not changed by playing.
        mode: ``"sample"`` draws from the distribution, ``"argmax"`` takes the likeliest action.
        info: what the checkpoint says of itself (see agents/neural/checkpoint.py), or empty.

    Raises:
        ValueError: For an unknown mode.
    """

    def __init__(self, network: PolicyValueNetwork, mode: str = "sample", info: dict[str, Any] | None = None) -> None:
        self.network = network
        self.mode = check_mode(mode)
        self.info = info or {}
        # The network in compiled code, where that can be.
        self.compiled = CompiledRanks(cast(RankNetwork, network)) if CompiledRanks.can_run(network) else None
        width = len(network.observation_scale)
        # Widths of the observations that it can be given, without and with events, and the columns that it reads of them.
        self._widths: tuple[int, ...] = (width,)
        self._columns: np.ndarray | None = None
        self._misfit = ""
        if {"sections", "num_seats", "num_sides"} <= self.info.keys():
            self._find_sections(self.info["num_seats"], self.info["num_sides"])

    def _find_sections(self, num_seats: int, num_sides: int) -> None:
        """Find the sections that the network reads in the observation of today."""
        layout = ObservationLayout((num_seats, num_sides))
        self._misfit = ""
        try:
            self._columns = columns_here(self.info["sections"], self.network.observation_scale.cpu().numpy(), layout)
        except ValueError as error:
            self._misfit = f"this policy was made for another observation: {error}"
        self._widths = (layout.width, ObservationLayout((num_seats, num_sides), events=True).width)

    def with_mode(self, mode: str) -> NeuralPolicy:
        """The same network in another mode.

        Raises:
            ValueError: For an unknown one.
        """
        return NeuralPolicy(self.network, mode, self.info)

    def start(self, num_games: int, rules: RuleSet | Sequence[RuleSet], seed: int) -> None:
        """Check that the table is one that this network was made for; warns of rules under which it was not trained.

        Raises:
            ValueError: For another number of seats or sides, on which the observation's layout depends, and for an observation
                that lacks a section that the network reads, naming the first.
        """
        sets = rule_sets(rules)
        here = {"num_seats": sets[0].players, "num_sides": sets[0].num_sides}
        for name, value in here.items():
            if self.info.get(name, value) != value:
                raise ValueError(f"this policy was made for {name} {self.info[name]}, the rules here have {value}")
        for each in sets:
            if sentence := self.untrained(each):
                warnings.warn(sentence, UntrainedRulesWarning, 2)
        if "sections" in self.info:
            self._find_sections(sets[0].players, sets[0].num_sides)
        if self._misfit:
            raise ValueError(self._misfit)

    def untrained(self, rules: RuleSet, who: str = "this policy") -> str:
        """As ``agents.policy.untrained_rules``, of this policy."""
        return untrained_rules(self.info, rules, who)

    def act(self, batch: PolicyBatch) -> np.ndarray:
        """Actions (N,) int32."""
        logits, _ = self._forward(batch.observations)
        actions = np.empty(len(batch), np.int32)
        masks = np.ascontiguousarray(batch.action_masks, np.int8)
        if masks.shape != logits.shape:
            raise ValueError(f"this policy knows {logits.shape[1]} actions, got masks of shape {masks.shape}")
        if self.mode == "argmax":
            best_actions(logits, masks, actions)
        else:
            sample_actions(logits, masks, uniforms(batch.keys), actions, np.empty(len(batch), np.float32))
        return actions

    def evaluate(self, batch: PolicyBatch) -> tuple[np.ndarray, np.ndarray]:
        """Probabilities (N, A) float32, exactly 0 where illegal, and values (N,) float32 in units of reward."""
        logits, values = self._forward(batch.observations)
        return masked_probabilities(logits, batch.action_masks), values

    def compiled_arrays(self) -> RankArrays:
        """The network for ``run_row`` on observations of today's layout without events. Only where ``compiled`` is there."""
        arrays = cast(CompiledRanks, self.compiled).arrays()
        if self._columns is None:
            return arrays
        return arrays._replace(
            num_columns=self._widths[0],
            places=arrays.places._replace(
                rank_columns=self._columns[arrays.places.rank_columns], other_columns=self._columns[arrays.places.other_columns]
            ),
        )

    def _read(self, observations: np.ndarray) -> np.ndarray:
        """The numbers that the network was made for, (N, F) int16, of observations of today's layout.

        Observations of another game have a width of their own; those of the network's width are read as they are.
        """
        if self._misfit:
            own_width = len(self.network.observation_scale)
            if observations.ndim == 2 and observations.shape[1] == own_width and own_width not in self._widths:
                return observations
            raise ValueError(self._misfit)
        if observations.ndim != 2 or observations.shape[1] not in self._widths:
            raise ValueError(f"this policy reads observations of shape (N, {self._widths[0]}), got {observations.shape}")
        # Events, where there are any, come last.
        return observations[:, : self._widths[0]] if self._columns is None else observations[:, self._columns]

    def _forward(self, observations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        observations = self._read(observations)
        if len(observations) == 0:
            return np.empty((0, self.network.num_actions), np.float32), np.empty(0, np.float32)
        if self.compiled is not None and len(observations) <= _FEW_ROWS:
            return self.compiled(np.ascontiguousarray(observations, np.int16))
        device = self.network.observation_scale.device
        rows = torch.from_numpy(np.ascontiguousarray(observations, np.int16))
        logits, values = [], []
        with torch.inference_mode():
            for piece in rows.split(_ROWS_AT_ONCE):
                piece_logits, piece_values = self.network(piece.to(device))
                logits.append(piece_logits)
                values.append(self.network.denormalise(piece_values))
            return torch.cat(logits).cpu().numpy(), torch.cat(values).cpu().numpy()
