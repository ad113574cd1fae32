"""The chat in a browser: `wattwise app`, or `streamlit run streamlit_app.py`."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from threading import Thread

import streamlit as st
from starlette.middleware import Middleware

from app.access import OwnNames
from app.own_files import remove_left_copies
from app.resources import warm_up
from chatbot import ReaderError
from chatbot.app import AppSettings
from chatbot.settings import Settings, settings_from

# Files that this process writes are accessible to its own user only.
os.umask(0o077)
try:
    common = settings_from(os.environ, Settings)
    settings = settings_from(os.environ, AppSettings, prefix="WATTWISE_APP_")
except ReaderError as error:
    raise SystemExit(str(error)) from error


@asynccontextmanager
async def warming(_: st.App) -> AsyncIterator[None]:
    remove_left_copies()
    # Started only once the app serves, so that the first page does not wait for it on a busy machine.
    Thread(target=warm_up, args=(common.index,), daemon=True).start()
    yield


app = st.App("app/pages/frame.py", lifespan=warming, middleware=[Middleware(OwnNames, hosts=settings.hosts)])
