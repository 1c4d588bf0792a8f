"""What ``handfoot bench`` measures: the engine and its adapters, and beside them other environments and trainers."""
