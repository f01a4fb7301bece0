"""Label checks: the claims of a project, samples of them, the queue of checkers, and figures."""
