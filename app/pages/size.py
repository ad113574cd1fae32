"""The Size page."""

from app.resources import operator
from app.size import show_size

show_size(operator())
