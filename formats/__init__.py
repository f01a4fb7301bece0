"""Readers and writers of file formats, importable without Django.

A reader is a generator over a `Source` (one file) or a `Folder` (several files) and yields records.
A writer takes records and a binary stream and returns how many it wrote. `formats.registry` lists
all of them by name.
"""
