"""Sessions in the database, read by a query that is written out: every request asks it."""

from __future__ import annotations

from django.contrib.sessions.backends.db import SessionStore as DatabaseSessions
from django.contrib.sessions.models import Session
from django.db import connection
from django.utils import timezone

from base.raw_sql import columns, first


class SessionStore(DatabaseSessions):
    """Django's own, but for how it reads a session."""

    def _get_session_from_db(self) -> Session | None:
        sql = f"""
            SELECT {columns(Session, "s")} FROM django_session s
            WHERE s.session_key = %(key)s AND s.expire_date > %(now)s
        """  # noqa: S608 (the columns of Django's table)
        now = connection.ops.adapt_datetimefield_value(timezone.now())
        found = first(sql, {"key": self.session_key, "now": now}, Session)
        if found is None:
            self._session_key = None
            return None
        session: Session = found[0]
        return session
