"""Exams: read question files of any format, ask and grade the questions, and report scores with confidence intervals."""

from chatbot.exam.asking import ask_question, ask_questions
from chatbot.exam.baselines import BaselineScore
from chatbot.exam.golden import GoldenQuestion
from chatbot.exam.question import ExamQuestion, QuestionSet, Skipped
from chatbot.exam.rates import Bin, Rate, Score
from chatbot.exam.reading import ACCEPTED_SUFFIXES, EXAMPLE, read_questions
from chatbot.exam.report import Report, build_report
from chatbot.exam.results import Comparison, Result, Verdict, compare
from chatbot.exam.runs import Identity, identify, run
from chatbot.exam.writing import report_junit, report_lines, report_page, report_summary, write_report

__all__ = [
    "ACCEPTED_SUFFIXES", "EXAMPLE", "BaselineScore", "Bin", "Comparison", "ExamQuestion", "GoldenQuestion",
    "Identity", "QuestionSet", "Rate", "Report", "Result", "Score", "Skipped", "Verdict", "ask_question",
    "ask_questions", "build_report", "compare", "identify", "read_questions", "report_junit", "report_lines",
    "report_page", "report_summary", "run", "write_report",
]  # fmt: skip
