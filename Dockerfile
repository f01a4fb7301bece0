# The image that runs Rejudge for a team: see docker-compose.yml. It is made of the wheel that bin/build
# makes and of the libraries' wheels, without a compiler; cwl-eval, which is pure Python, has no wheel.
# A test executes each RUN line.
FROM python:3.11.13-slim-bookworm AS build

ENV UV_PYTHON_DOWNLOADS=never \
    UV_LINK_MODE=copy
RUN pip install --no-cache-dir uv==0.13.8
COPY requirements.lock dist/rejudge-*.whl /build/
RUN python -m venv /venv \
    && uv pip install --no-cache --no-deps --only-binary :all: --no-binary cwl-eval \
        --compile-bytecode --python /venv/bin/python --require-hashes \
        --requirements /build/requirements.lock \
    && uv pip install --no-cache --no-deps --offline --compile-bytecode \
        --python /venv/bin/python /build/rejudge-*.whl

FROM python:3.11.13-slim-bookworm

RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin rejudge \
    && install --directory --owner 10001 --group 10001 --mode 0700 /data
COPY --from=build /venv /venv

ENV PATH=/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    REJUDGE_DATA=/data
USER 10001
VOLUME /data
EXPOSE 8000
CMD ["rejudge", "serve", "--host", "0.0.0.0"]
