"""Check every sentence of a draft against the words that it cites."""
