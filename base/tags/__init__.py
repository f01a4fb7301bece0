"""Template tags shared by all apps: times, shares, grades, change marks, texts and small charts.

Everything shown goes through `format_html`: text from people and files is always escaped.
"""
