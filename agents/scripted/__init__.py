"""Scripted players: kernels that choose an action from what their seat may know, and policies made of them."""

from agents.scripted.players import BeamPolicy, ExpertPolicy, GreedyPolicy, RandomPolicy, ScriptedPolicy, check, make
from agents.scripted.playout import play_deals

__all__ = ["BeamPolicy", "ExpertPolicy", "GreedyPolicy", "RandomPolicy", "ScriptedPolicy", "check", "make", "play_deals"]
