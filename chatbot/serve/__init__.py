"""Answers for other programs over HTTP: an OpenAI-compatible chat, the commands' own JSON, and what operators watch.

In the order in which modules may import one another: settings, failures, metrics, gate, work, service, openai_api, own_api,
operations, application, __main__.
"""
