"""Answers as people and programs see them."""
