"""Django's SQLite backend, adjusted so that the writers of one process take turns."""
