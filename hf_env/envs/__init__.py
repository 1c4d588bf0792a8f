"""The environments: adapters of one table for PettingZoo and Gymnasium, without a rule in them."""
