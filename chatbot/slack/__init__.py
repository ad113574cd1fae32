"""The Slack adapter: translates between Slack and `Chatbot`, and knows nothing of retrieval.

In the order in which modules may import one another: settings, journal, escaping, events, state, parts, blocks, web, memory,
queueing, desk, delivery, answering, listeners, serving, __main__.
"""
