"""The settings that an installation requires before it starts."""

from __future__ import annotations

from dataclasses import dataclass, field

# The length of a key that Django generates.
SHORTEST_KEY = 50


@dataclass(frozen=True)
class Given:
    """The settings as `config.settings` read them; empty if not set."""

    production: bool = False
    debug: bool = False
    https: bool = False
    secret_key: str = ""
    hosts: list[str] = field(default_factory=list)
    database_url: str = ""
    redis_url: str = ""
    log: str = "text"
    bucket: str = ""
    # Settings that only matter together with a bucket, by the variable's name.
    beside_bucket: dict[str, str] = field(default_factory=dict)
    mail: str = ""
    mail_from: str = "rejudge@localhost"
    # The OpenID Connect provider, and our client id there.
    issuer: str = ""
    client: str = ""


def missing(told: Given) -> list[str]:
    """Return a sentence for each setting that must change before Rejudge can start."""
    return [*_halves(told), *(_for_others(told) if told.production else [])]


def _halves(told: Given) -> list[str]:
    """Return a sentence for each invalid value or combination, in any installation."""
    found = []
    if told.log not in {"text", "json"}:
        found.append(f"Set REJUDGE_LOG to text or json; it is “{told.log}”.")
    if told.beside_bucket and not told.bucket and any(told.beside_bucket.values()):
        names = ", ".join(name for name, value in told.beside_bucket.items() if value)
        found.append(
            f"Set REJUDGE_S3_BUCKET to the bucket for files, or leave {names} out: without a "
            "bucket, files are kept in the data folder."
        )
    key, secret = (
        told.beside_bucket.get(f"REJUDGE_S3_{name}", "") for name in ("ACCESS_KEY", "SECRET_KEY")
    )
    if bool(key) != bool(secret):
        found.append(
            "Set both REJUDGE_S3_ACCESS_KEY and REJUDGE_S3_SECRET_KEY, or neither: one is useless "
            "without the other."
        )
    if bool(told.issuer) != bool(told.client):
        found.append(
            "Set both REJUDGE_OIDC_ISSUER and REJUDGE_OIDC_CLIENT, or neither: the provider "
            "requires a client id."
        )
    if told.issuer and not told.issuer.startswith(("https://", "http://")):
        found.append("Set REJUDGE_OIDC_ISSUER to an address that begins with https://.")
    return found


def _for_others(told: Given) -> list[str]:
    """Return a sentence for each setting that a production installation must not leave out."""
    found = []
    if told.debug:
        found.append(
            "Set REJUDGE_DEBUG=0: otherwise error pages show settings and data to everyone."
        )
    if len(told.secret_key) < SHORTEST_KEY:
        found.append(
            f"Set REJUDGE_SECRET_KEY to {SHORTEST_KEY} random characters or more, the same for "
            "all processes: it signs sessions."
        )
    if not told.hosts or "*" in told.hosts:
        found.append("Set REJUDGE_HOSTS to the host names of the site, as in rejudge.example.org.")
    if not told.https:
        found.append(
            "Set REJUDGE_HTTPS=1 and serve HTTPS with a proxy: without it, others on the network "
            "can read passwords and documents."
        )
    if not told.database_url.startswith(("postgres://", "postgresql://")):
        found.append(
            "Set DATABASE_URL to a PostgreSQL database, as in postgres://rejudge:password@host:5432/"
            "rejudge: the embedded database is for one machine."
        )
    if not told.redis_url:
        found.append(
            "Set REDIS_URL to a Redis server, as in redis://host:6379/0: the embedded broker is "
            "for one machine."
        )
    if not told.mail:
        found.append(
            "Set REJUDGE_MAIL to the mail server, as in smtp+tls://user:password@"
            "mail.example.org:587, or to consolemail:// to print mail in the log: links for new "
            "passwords are sent by mail."
        )
    elif told.mail.startswith("smtp") and told.mail_from.endswith("@localhost"):
        found.append(
            "Set REJUDGE_MAIL_FROM to the sender's address, as in rejudge@example.org: no server "
            "accepts mail from localhost."
        )
    return found
