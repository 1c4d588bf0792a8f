"""The player ``search``: determinised search on what a seat may know."""

from agents.search.policy import SearchPolicy, SearchResult, check, make

__all__ = ["SearchPolicy", "SearchResult", "check", "make"]
