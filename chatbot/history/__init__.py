"""What people said, kept beside the index: conversations, votes, private files."""
