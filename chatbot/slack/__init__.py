"""The Slack adapter: translates between Slack and `Chatbot`, and knows nothing of retrieval.

In the order in which modules may import one another: settings, journal, state, escaping, parts, blocks, events, memory,
queueing, delivery, evidence, desk, answering, intake, listeners, signature, serving, __main__.
"""
