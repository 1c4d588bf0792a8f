"""The command as the tests of the command call it."""

from tests.cli.conftest import handfoot

__all__ = ["handfoot"]
