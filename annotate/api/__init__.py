"""The first pass for programs, under /api/v1/: the pages' own access and actions, told in JSON.

`frame.py` is what every room's resources are made of. A resource holds no rule: it finds the row
through `access`, calls an action, and says what came of it.
"""
