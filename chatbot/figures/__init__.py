"""Answers in figures: computed from the asker's or a model's, or looked up in the tables."""
