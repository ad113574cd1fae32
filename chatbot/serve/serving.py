"""uvicorn with the application in it: quiet, bounded, and stopped within seconds."""

from types import FrameType

import uvicorn

from chatbot.serve.application import application
from chatbot.serve.service import Service
from chatbot.serve.work import STOP_SECONDS

# Far above what is answered at once: it bounds what connections that wait or say nothing cost.
_MOST_CONNECTIONS = 500


class Server(uvicorn.Server):
    """A stop signal lets what was taken on end first, for some seconds."""

    def __init__(self, service: Service) -> None:
        super().__init__(
            uvicorn.Config(
                application(service),
                lifespan="off",
                log_config=None,
                # An address may carry a query.
                access_log=False,
                proxy_headers=False,
                server_header=False,
                ws="none",
                limit_concurrency=_MOST_CONNECTIONS,
                timeout_graceful_shutdown=round(STOP_SECONDS) + 2,
            )
        )
        self._work = service.work

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._work.stop()
        super().handle_exit(sig, frame)
