"""The language-model reader: it opens models, prompts them, and verifies their text while they write it."""
