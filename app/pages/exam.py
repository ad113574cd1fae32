"""The Exam page."""

from app.exam import show_exam
from app.resources import operator
from app.sidebar import opened_bot

show_exam(operator(), opened_bot(operator()))
