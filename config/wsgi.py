"""The WSGI application."""

from __future__ import annotations

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
os.environ["REJUDGE_WEB_PROCESS"] = "1"

from django.core.wsgi import get_wsgi_application

from config.unreadable_requests import readable

application = readable(get_wsgi_application())
