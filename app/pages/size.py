"""The page of the sizing."""

from app.boundary import told
from app.resources import operator
from app.size import show_size

with told():
    show_size(operator())
