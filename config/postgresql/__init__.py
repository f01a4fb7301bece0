"""Django's PostgreSQL backend, adjusted for statements that every key press executes."""
