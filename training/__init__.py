"""Self-play training and evaluation. Start at training/trainer.py; the command is ``handfoot train``."""
