"""Streams <-> records, importable without Django.

A reader is a generator over a `Source` (one file) or a `Folder` (several files) and yields records;
a writer takes records and a binary stream and returns how many it wrote. `formats.registry` knows
them all by name.
"""
