"""Answers for other programs over HTTP: an OpenAI-compatible chat, the commands' own JSON, and what operators watch.

In the order in which modules may import one another: settings, failures, metrics, gate, work, service, messages,
completions, openai_api, requests, own_api, reference, operations, application, serving, __main__.
"""
