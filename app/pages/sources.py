"""The Sources page."""

from app.resources import operator
from app.sidebar import opened_bot
from app.sources import show_sources

show_sources(operator(), opened_bot(operator()))
