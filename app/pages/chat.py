"""The Chat page, which opens first."""

from app.chat import show_chat
from app.resources import operator
from app.sidebar import opened_bot

show_chat(operator(), opened_bot(operator()))
