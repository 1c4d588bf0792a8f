"""Learning: rollouts, advantages, PPO."""
