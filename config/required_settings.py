"""The settings that an installation requires before it starts."""

from __future__ import annotations

from dataclasses import dataclass, field

from environ import Env

from base.extras import missing_extra
from llm.endpoint import Endpoint

# The length of a key that Django generates.
SHORTEST_KEY = 50
DATABASES = ("postgres://", "postgresql://", "psql://", "pgsql://", "sqlite://")


@dataclass(frozen=True)
class Given:
    """The settings as `config.settings` read them; empty if not set."""

    production: bool = False
    debug: bool = False
    https: bool = False
    secret_key: str = ""
    hosts: list[str] = field(default_factory=list)
    origins: list[str] = field(default_factory=list)
    database_url: str = ""
    redis_url: str = ""
    log: str = "text"
    bucket: str = ""
    # Settings that only matter together with a bucket, by the variable's name.
    beside_bucket: dict[str, str] = field(default_factory=dict)
    mail: str = ""
    mail_from: str = "rejudge@localhost"
    # Settings that are whole numbers, as they are written, by the variable's name.
    numbers: dict[str, str] = field(default_factory=dict)
    # The OpenID Connect provider, and our client id there.
    issuer: str = ""
    client: str = ""
    # The address and the key of each server of language models, by its name.
    model_servers: dict[str, str] = field(default_factory=dict)
    model_keys: dict[str, str] = field(default_factory=dict, repr=False)


def read_by_name(text: str) -> dict[str, str]:
    """Return the values in "name=value,name=value"; one without a name has the name ""."""
    values = {}
    for part in filter(None, map(str.strip, text.split(","))):
        name, equals, value = part.partition("=")
        values[name.strip() if equals else ""] = value.strip()
    return values


def missing(given: Given) -> list[str]:
    """Return a sentence for each setting that must change before Rejudge can start."""
    return [
        *_invalid_combinations(given),
        *_missing_libraries(given),
        *(_missing_in_production(given) if given.production else []),
    ]


def _invalid_combinations(given: Given) -> list[str]:
    """Return a sentence for each invalid value or combination, in any installation."""
    sentences = []
    if given.log not in {"text", "json"}:
        sentences.append(f"Set REJUDGE_LOG to text or json; it is “{given.log}”.")
    sentences += [
        f"Set {name} to a whole number; it is “{text}”."
        for name, text in given.numbers.items()
        if not text.isdecimal()
    ]
    sentences += [
        f"Set REJUDGE_HOSTS to names as in rejudge.example.org, without https://; one is “{host}”."
        for host in given.hosts
        if "/" in host
    ]
    sentences += [
        f"Set REJUDGE_ORIGINS to addresses as in https://rejudge.example.org; one is “{origin}”."
        for origin in given.origins
        if not origin.startswith(("https://", "http://"))
    ]
    # The values may hold a password, so no sentence repeats them.
    if given.database_url and not given.database_url.startswith(DATABASES):
        sentences.append(
            "Set DATABASE_URL to an address as in postgres://rejudge:password@host:5432/rejudge, "
            "or leave it out: then the data is in a file of the data folder."
        )
    if given.mail and given.mail.partition("://")[0] not in Env.EMAIL_SCHEMES:
        sentences.append(
            "Set REJUDGE_MAIL to an address as in smtp+tls://user:password@mail.example.org:587, "
            "or leave it out: then mail is printed."
        )
    if given.beside_bucket and not given.bucket and any(given.beside_bucket.values()):
        names = ", ".join(name for name, value in given.beside_bucket.items() if value)
        sentences.append(
            f"Set REJUDGE_S3_BUCKET to the bucket for files, or leave {names} out: without a "
            "bucket, files are kept in the data folder."
        )
    key, secret = (
        given.beside_bucket.get(f"REJUDGE_S3_{name}", "") for name in ("ACCESS_KEY", "SECRET_KEY")
    )
    if bool(key) != bool(secret):
        sentences.append(
            "Set both REJUDGE_S3_ACCESS_KEY and REJUDGE_S3_SECRET_KEY, or neither: one is useless "
            "without the other."
        )
    if bool(given.issuer) != bool(given.client):
        sentences.append(
            "Set both REJUDGE_OIDC_ISSUER and REJUDGE_OIDC_CLIENT, or neither: the provider "
            "requires a client id."
        )
    if given.issuer and not given.issuer.startswith(("https://", "http://")):
        sentences.append("Set REJUDGE_OIDC_ISSUER to an address that begins with https://.")
    return sentences + _invalid_servers(given)


def _invalid_servers(given: Given) -> list[str]:
    """Return a sentence for each server of language models that cannot be asked. No key in it."""
    sentences = []
    if not given.model_keys.keys() <= given.model_servers.keys():
        sentences.append(
            "REJUDGE_MODEL_KEYS has a key without the name of a server in REJUDGE_MODEL_SERVERS: "
            "write name=key, separated by commas, with the same names."
        )
    for name, address in given.model_servers.items():
        try:
            Endpoint(base_url=address, model=name, key=given.model_keys.get(name, ""))
        except ValueError as error:
            sentences.append(f"Correct REJUDGE_MODEL_SERVERS or its key of “{name}”: {error}")
    return sentences


def _missing_libraries(given: Given) -> list[str]:
    """Return a sentence for each setting whose library is not installed."""
    needed = {
        "s3": ("REJUDGE_S3_BUCKET", bool(given.bucket)),
        "postgresql": ("DATABASE_URL", given.database_url.startswith(("postgres", "psql"))),
        "redis": ("REDIS_URL", bool(given.redis_url)),
        "llm": ("REJUDGE_MODEL_SERVERS", bool(given.model_servers)),
    }
    sentences = [missing_extra(extra, name) for extra, (name, is_set) in needed.items() if is_set]
    return [sentence for sentence in sentences if sentence]


def _missing_in_production(given: Given) -> list[str]:
    """Return a sentence for each setting that a production installation must not leave out."""
    sentences = []
    if given.debug:
        sentences.append(
            "Set REJUDGE_DEBUG=0: otherwise error pages show settings and data to everyone."
        )
    if len(given.secret_key) < SHORTEST_KEY:
        sentences.append(
            f"Set REJUDGE_SECRET_KEY to {SHORTEST_KEY} random characters or more, the same for "
            "all processes: it signs sessions."
        )
    if not given.hosts or "*" in given.hosts:
        sentences.append(
            "Set REJUDGE_HOSTS to the host names of the site, as in rejudge.example.org."
        )
    if not given.https:
        sentences.append(
            "Set REJUDGE_HTTPS=1 and serve HTTPS with a proxy: without it, others on the network "
            "can read passwords and documents."
        )
    if not given.database_url.startswith(("postgres://", "postgresql://")):
        sentences.append(
            "Set DATABASE_URL to a PostgreSQL database, as in postgres://rejudge:password@host:5432/"
            "rejudge: the embedded database is for one machine."
        )
    if not given.redis_url:
        sentences.append(
            "Set REDIS_URL to a Redis server, as in redis://host:6379/0: the embedded broker is "
            "for one machine."
        )
    if not given.mail:
        sentences.append(
            "Set REJUDGE_MAIL to the mail server, as in smtp+tls://user:password@"
            "mail.example.org:587, or to consolemail:// to print mail in the log: links for new "
            "passwords are sent by mail."
        )
    elif given.mail.startswith("smtp") and given.mail_from.endswith("@localhost"):
        sentences.append(
            "Set REJUDGE_MAIL_FROM to the sender's address, as in rejudge@example.org: no server "
            "accepts mail from localhost."
        )
    return sentences
