"""The former home of `recognition.pen_session`."""

from .recognition.pen_session import CanvasSymbol, PenSession

__all__ = ["CanvasSymbol", "PenSession"]
