"""The layout `citation`: CITATION.cff, and .zenodo.json for a DOI.

DataCite requires creator, title, publisher, year and resource type; they come from the project's
publication settings.
"""

from __future__ import annotations

import json
from contextlib import suppress

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

from annotate.projects.models import Project
from exporters.exports.files import Edition, Report, Writer
from exporters.exports.layouts.rows import quoted
from exporters.exports.manifest.manifest import Manifest, Rule, compose
from exporters.exports.models import Publication, publication_of
from exporters.exports.selection import selection
from exporters.exports.selection.selection import tally
from formats.texts import CannotHold

CFF, ZENODO = "CITATION.cff", ".zenodo.json"


def write(project: Project, into: Writer, report: Report) -> Manifest:
    """Write both files. Raises CannotHold if a setting that a DOI needs is missing."""
    publication = publication_of(project)
    if lacking := missing(publication):
        raise CannotHold(
            f"a citation needs {', '.join(lacking)}. Set them in the project's publication settings"
        )
    write_files(publication, into)
    return compose(
        project=project,
        format_name="citation",
        counts=tally(project, selection.pairs(project)),
        rules=[Rule(about="Licence", says=publication.rights)],
        warnings=[],
        notes=["This layout names the collection and contains none of its data."],
        pairs=[],
        left_out=[],
        files=into.files,
    )


def missing(publication: Publication) -> list[str]:
    """Return the settings that a DOI needs and that are not set."""
    return [
        words
        for words, value in (
            ("creators", publication.creators.strip()),
            ("a publisher", publication.publisher),
            ("a year", publication.year),
            ("a licence of instructions and labels", publication.licence),
        )
        if not value
    ]


def write_files(publication: Publication, into: Writer) -> None:
    """Write CITATION.cff and .zenodo.json with the settings that are known."""
    with into.file(CFF, "How the set is cited, for GitHub and reference managers.") as stream:
        stream.write(_cff(publication, into.edition).encode())
    record = _zenodo(publication, into.edition)
    with into.file(ZENODO, "The record of a DOI; Zenodo reads it before CITATION.cff.") as stream:
        stream.write((json.dumps(record, ensure_ascii=False, indent=2) + "\n").encode())


def creators_of(publication: Publication) -> list[tuple[str, str]]:
    """Return family and given name of each creator; a line without a comma is one name."""
    creators = []
    for line in publication.creators.splitlines():
        family, _, given_names = line.partition(",")
        if family.strip():
            creators.append((family.strip(), given_names.strip()))
    return creators


def sentence(publication: Publication) -> str:
    """Return a line that cites the set."""
    who = "; ".join(", ".join(filter(None, names)) for names in creators_of(publication))
    year = f" ({publication.year})" if publication.year else ""
    publisher = f" {publication.publisher}." if publication.publisher else ""
    return f"{who}{year}{'. ' if who or year else ''}{publication.project.name}.{publisher}"


def _cff(publication: Publication, edition: Edition | None = None) -> str:
    name = publication.project.name
    lines = [
        "cff-version: 1.2.0",
        "message: Please cite this data set as below.",
        "type: dataset",
        f"title: {quoted(name)}",
    ]
    if edition is not None:
        lines += [f"version: {quoted(edition.name)}", f"date-released: {edition.date}"]
    lines.append("authors:")
    first = len(lines)
    for family, given_names in creators_of(publication):
        if given_names:
            lines += [f"- family-names: {quoted(family)}", f"  given-names: {quoted(given_names)}"]
        else:
            lines.append(f"- name: {quoted(family)}")
    if not creators_of(publication):
        lines.append(f"- name: {quoted(name)}")
    # CFF has one licence, that of the annotations, as SPDX names it: the abstract names any other.
    licence, other = publication.licence, False
    with suppress(InvalidLicenseExpression):
        licence = canonicalize_license_expression(licence)
        other = " " in licence or licence.startswith("LicenseRef-")
    rights = f"Licence of instructions and labels: {licence}." if other else ""
    abstract = (publication.description, rights, _texts_rights(publication))
    if any(abstract):
        lines.append(f"abstract: {quoted(' '.join(filter(None, abstract)))}")
    if licence and not other:
        lines.append(f"license: {quoted(licence)}")
    if publication.year:
        lines += [
            "preferred-citation:",
            "  type: data",
            f"  title: {quoted(name)}",
            f"  year: {publication.year}",
            "  authors:",
            *(f"  {line}" for line in lines[first:] if line.startswith(("- ", "  "))),
        ]
        if publication.publisher:
            lines += ["  publisher:", f"    name: {quoted(publication.publisher)}"]
    return "\n".join(lines) + "\n"


def _texts_rights(publication: Publication) -> str:
    """Return the licence and source of the texts, if they are published and differ."""
    other = publication.texts_licence or publication.texts_source
    return publication.texts_rights if publication.texts and other else ""


def _zenodo(publication: Publication, edition: Edition | None) -> dict[str, object]:
    project = publication.project
    record: dict[str, object] = {
        "title": project.name,
        "upload_type": "dataset",
        "creators": [
            {"name": ", ".join(filter(None, names))} for names in creators_of(publication)
        ],
        "description": publication.description or project.description or project.name,
    }
    if publication.licence:
        record["license"] = publication.licence
    if rights := _texts_rights(publication):
        record["notes"] = rights
    if publication.publisher:
        record["imprint_publisher"] = publication.publisher
    if edition is not None:
        record["version"] = edition.name
        record["publication_date"] = edition.date
    elif publication.year:
        record["publication_date"] = str(publication.year)
    if languages := publication.languages.split():
        record["language"] = languages[0].partition("-")[0]
    return record
