"""Django's PostgreSQL backend, with fewer health checks of persistent connections."""
