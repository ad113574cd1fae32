"""The Slack adapter: it translates between Slack and `Chatbot`, and knows nothing about retrieval.

Each module may import only those before it in this order: settings, journal, escaping, events, state, parts, blocks, web,
memory, queueing, desk, delivery, answering, listeners, serving, __main__.
"""
