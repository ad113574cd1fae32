"""Answer other programs over HTTP: an OpenAI-compatible chat, the commands' own JSON, and routes for operators.

A module may import only those before it in this list: settings, failures, metrics, gate, work, service, openai_api, own_api,
operations, application, __main__.
"""
