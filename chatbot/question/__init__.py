"""What a question asks, over all turns of its conversation."""
