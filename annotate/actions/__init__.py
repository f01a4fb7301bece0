"""Everything that people can do in the first pass. Pages, API, commands and jobs all come through
here.

Every action is keyword-only, names its actor `by`, is one transaction, and refuses with a sentence
(`base.errors.Refused`) instead of doing half of something.
"""
