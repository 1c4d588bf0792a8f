"""The rules as compiled code."""
