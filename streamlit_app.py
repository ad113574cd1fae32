"""The chat in a browser: `wattwise app`, or `streamlit run streamlit_app.py`."""

import os

import streamlit as st
from starlette.middleware import Middleware

from app.access import OwnNames
from chatbot import ReaderError
from chatbot.app import AppSettings
from chatbot.settings import settings_from

# Whatever this process writes is its own user's alone.
os.umask(0o077)
try:
    settings = settings_from(os.environ, AppSettings, prefix="WATTWISE_APP_")
except ReaderError as error:
    raise SystemExit(str(error)) from error

app = st.App("app/pages/frame.py", middleware=[Middleware(OwnNames, hosts=settings.hosts)])
