"""Whether a model fits, what to launch, what it costs and what it emits: pure functions over frozen values."""
