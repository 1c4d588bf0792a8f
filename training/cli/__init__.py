"""The command ``handfoot``, a module for each subcommand."""
