"""From passages and prepared answers to a draft, without a language model."""
