"""What stands around every page: the sign-in, the navigation, the sidebar. `streamlit_app.py` serves it."""

from pathlib import Path

import streamlit as st

from app.boundary import told
from app.resources import operator
from app.sidebar import require_index, show_conversations, show_sidebar
from app.sign_in import require_sign_in

APP = Path(__file__).resolve().parents[1]

st.set_page_config(page_title="wattwise", page_icon=str(APP / "icon.svg"), layout="centered")
st.html(APP / "style.css")
st.html(f"<script>{(APP / 'page.js').read_text(encoding='utf-8')}</script>", unsafe_allow_javascript=True)
require_sign_in()
page = st.navigation(
    [
        st.Page("chat.py", title="Chat", icon=":material/forum:", default=True),
        st.Page("size.py", title="Size", icon=":material/straighten:"),
        st.Page("sources.py", title="Sources", icon=":material/library_books:"),
        st.Page("exam.py", title="Exam", icon=":material/school:"),
    ]
)
with told():
    require_index(operator())
    show_sidebar(operator())
    if page.title != "Chat":  # which shows what was just asked among them
        show_conversations(elsewhere=True)
    page.run()
