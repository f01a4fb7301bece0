"""What the web server imports."""

from __future__ import annotations

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
os.environ["REJUDGE_WEB_PROCESS"] = "1"

from django.core.wsgi import get_wsgi_application

from config.lifeline import die_with

if "REJUDGE_SUPERVISED" in os.environ:
    # A web process must not outlive the server that started it, and keep the port from the next.
    die_with(os.getppid())

application = get_wsgi_application()
