"""The page of the sizing."""

from app.resources import operator
from app.size import show_size

show_size(operator())
