"""Former names of public things, which keep working."""

from typing import Any


def alias(name: str) -> Any:
    """A read-only property for the former name of attribute `name`."""
    return property(lambda self: getattr(self, name), doc=f"The former name of `{name}`.")
