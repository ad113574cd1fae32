"""From a question to passages: words and meaning mixed."""
