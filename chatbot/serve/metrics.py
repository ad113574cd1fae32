"""Metrics for Prometheus: requests by path and status, their seconds, those in flight; answers, refusals and tokens."""

import time
from collections.abc import Collection

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from chatbot.answer import Answer

# The status that nginx, too, logs for a client that disconnects before it is answered.
_CLIENT_GONE = 499
_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)


class Metrics:
    """The metrics of one server, in a registry of their own."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self.requests = Counter(
            "wattwise_requests", "Requests that were answered.", ("path", "status"), registry=self._registry
        )
        self.seconds = Histogram(
            "wattwise_request_seconds", "From a request to the end of its response.", ("path",),
            buckets=_SECONDS, registry=self._registry,
        )  # fmt: skip
        self.in_flight = Gauge("wattwise_in_flight", "Requests that are being answered.", registry=self._registry)
        self.answers = Counter("wattwise_answers", "Answers given, refusals included.", registry=self._registry)
        self.refused = Counter(
            "wattwise_refused_answers", "Answers that say that the sources do not say.", registry=self._registry
        )
        self.tokens = Counter(
            "wattwise_tokens", "Tokens that a language model read and wrote.", ("direction",), registry=self._registry
        )

    def count(self, answer: Answer) -> None:
        """Count an answer that was given."""
        self.answers.inc()
        self.refused.inc(answer.refused)
        if answer.usage is not None:
            self.tokens.labels("input").inc(answer.usage.input_tokens)
            self.tokens.labels("output").inc(answer.usage.output_tokens)

    def text(self) -> bytes:
        """Return all metrics in Prometheus's text format."""
        return generate_latest(self._registry)


class Counted:
    """ASGI middleware that counts requests; each of `paths` has its own label, every other path is "other"."""

    def __init__(self, app: ASGIApp, metrics: Metrics, paths: Collection[str]) -> None:
        self._app, self._metrics, self._paths = app, metrics, frozenset(paths)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        began, status = time.perf_counter(), _CLIENT_GONE

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        path = scope["path"] if scope["path"] in self._paths else "other"
        try:
            with self._metrics.in_flight.track_inprogress():
                await self._app(scope, receive, sending)
        finally:
            self._metrics.requests.labels(path, str(status)).inc()
            self._metrics.seconds.labels(path).observe(time.perf_counter() - began)
