# wattwise in a container: `docker build --tag wattwise .`; compose.yaml runs the services.
FROM python:3.11.14-slim-trixie AS base
ENV PATH=/opt/venv/bin:$PATH PYTHONUNBUFFERED=1 PIP_DISABLE_PIP_VERSION_CHECK=1

FROM base AS wheel
WORKDIR /src
COPY LICENSE README.md pyproject.toml streamlit_app.py ./
COPY app app
COPY chatbot chatbot
COPY corpus corpus
COPY ingest ingest
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM base AS packages
RUN python -m venv /opt/venv
# PyPI's torch for Linux pulls in gigabytes of CUDA packages that nothing here uses; this index has the CPU-only build.
# It gets its own layer because it is the largest part and changes least.
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
RUN pip install --no-cache-dir --index-url "$TORCH_INDEX" torch==2.13.0
COPY --from=wheel /wheels /wheels
# The version is fixed by the wheel file.
# hadolint ignore=DL3013
RUN set -- /wheels/wattwise-*.whl && pip install --no-cache-dir "$1[all]"

FROM base
# The user is set by number, so that Kubernetes can verify that it is not root (runAsNonRoot).
RUN useradd --uid 10001 --user-group --create-home --shell /usr/sbin/nologin wattwise \
    && install --directory --owner=wattwise --group=wattwise --mode=0700 /var/lib/wattwise
COPY --from=packages /opt/venv /opt/venv
COPY container/healthy.py /opt/wattwise/healthy.py
# A container's loopback cannot be reached from outside, so listen on all interfaces. What is published, and to whom,
# is decided when the container is started.
ENV WATTWISE_INDEX=/var/lib/wattwise/index \
    WATTWISE_APP_HOST=0.0.0.0 WATTWISE_SERVE_HOST=0.0.0.0 WATTWISE_SLACK_HOST=0.0.0.0 \
    HF_HOME=/var/lib/wattwise/huggingface
WORKDIR /var/lib/wattwise
USER 10001:10001
# The question makes the reader prepare its models in the user's cache, which a read-only file system would prevent later.
RUN wattwise ingest && wattwise ask "How many chips has a trn1.32xlarge?"

EXPOSE 8501 8000 3000
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "/opt/wattwise/healthy.py", "http://127.0.0.1:8000/health", "http://127.0.0.1:8501/_stcore/health"]
ENTRYPOINT ["wattwise"]
CMD ["app"]
