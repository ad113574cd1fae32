"""The frame of every page: sign-in, navigation and sidebar. `streamlit_app.py` serves it."""

from pathlib import Path

import streamlit as st

from app.boundary import told
from app.resources import operator
from app.sidebar import require_index, show_conversations, show_sidebar

APP = Path(__file__).resolve().parents[1]

st.set_page_config(page_title="wattwise", page_icon=str(APP / "icon.svg"), layout="centered")
st.html(APP / "style.css")
st.html(f"<script>{(APP / 'page.js').read_text(encoding='utf-8')}</script>", unsafe_allow_javascript=True)
if st.secrets.load_if_toml_exists() and "auth" in st.secrets and not st.user.get("is_logged_in"):
    # Streamlit's own OpenID Connect sign-in, if the operator has set it up in `.streamlit/secrets.toml`.
    with st.container(key="landing"):
        st.html('<h1 class="ww-title">wattwise</h1><p class="ww-subtitle">Sign in to ask.</p>')
        st.button("Sign in", on_click=st.login, type="primary")
    st.stop()
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
    if page.title != "Chat":  # the chat shows them itself, including what was just asked
        show_conversations(elsewhere=True)
    page.run()
