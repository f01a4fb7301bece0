"""The WSGI application, which `config.asgi` calls."""

from __future__ import annotations

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
os.environ["REJUDGE_WEB_PROCESS"] = "1"

import django
from django.core.wsgi import get_wsgi_application

from config.light_imports import read_little
from config.unreadable_requests import readable

django.setup()
read_little()
application = readable(get_wsgi_application())
