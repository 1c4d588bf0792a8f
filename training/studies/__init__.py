"""Studies: programs that measure or fit something once, run by ``python -m``."""
