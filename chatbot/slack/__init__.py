"""The Slack adapter: translates between Slack and `Chatbot`, and knows nothing of retrieval.

In the order in which modules may import one another: settings, journal, escaping, events, parts, blocks, state, memory,
queueing, delivery, attachments, evidence, desk, answering, intake, listeners, signature, serving, __main__.
"""
