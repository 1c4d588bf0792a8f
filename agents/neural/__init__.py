"""Neural policies in PyTorch: the network, the policy that plays it, and checkpoints that cannot run code."""

from agents.neural.base import NetworkConfig
from agents.neural.checkpoint import CheckpointError, load_policy, save_policy
from agents.neural.factory import build_network
from agents.neural.policy import NeuralPolicy
from agents.policy import UntrainedRulesWarning

__all__ = ["CheckpointError", "NetworkConfig", "NeuralPolicy", "UntrainedRulesWarning", "build_network", "load_policy", "save_policy"]
