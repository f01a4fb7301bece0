# The image that runs Rejudge for a team: see docker-compose.yml.
FROM python:3.11.13-slim-bookworm AS build

ENV UV_PYTHON_DOWNLOADS=never \
    UV_LINK_MODE=copy
RUN pip install --no-cache-dir uv==0.13.8
COPY requirements.lock /
RUN python -m venv /venv \
    && uv pip install --no-cache --no-deps --compile-bytecode --python /venv/bin/python \
        --require-hashes --requirements /requirements.lock

FROM python:3.11.13-slim-bookworm

RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin rejudge \
    && install --directory --owner rejudge --group rejudge --mode 0700 /data
COPY --from=build /venv /venv
COPY . /app
RUN python -m compileall -q /app

ENV PATH=/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    REJUDGE_DATA=/data
WORKDIR /app
USER 10001
VOLUME /data
EXPOSE 8000
CMD ["python", "manage.py", "serve", "--host", "0.0.0.0"]
