"""croissant.json: a machine-readable description of the data set for search engines and loaders.

Shape: Croissant 1.0, http://mlcommons.org/croissant/1.0. Each file has its sha256; each config of
the data set is a record set whose fields are columns of a file.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from exporters.exports.files import Writer
from exporters.exports.layouts import citation
from exporters.exports.layouts.card import Part
from exporters.exports.layouts.published import Published

NAME = "croissant.json"
# The context of the specification, verbatim.
_OF_CROISSANT = (
    *("citeAs", "column", "extract", "field", "fileProperty", "fileObject", "fileSet", "format"),
    *("includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet"),
    *("references", "regex", "repeated", "replace", "separator", "source", "subField", "transform"),
)
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "sc": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{name: f"cr:{name}" for name in _OF_CROISSANT},
}
TYPES = {"string": "sc:Text", "list": "sc:Text", "int32": "sc:Integer"}


def write(published: Published, sets: dict[str, Sequence[Part]], into: Writer) -> None:
    """Write croissant.json. `sets`: the configs of each set by its folder ("" for the first)."""
    with into.file(NAME, "The data set described for machines: Croissant 1.0.") as stream:
        text = json.dumps(_describe(published, sets, into), ensure_ascii=False, indent=2)
        stream.write((text + "\n").encode())


def _describe(
    published: Published, sets: dict[str, Sequence[Part]], into: Writer
) -> dict[str, Any]:
    publication, project = published.publication, published.project
    sums = {entry["name"]: entry["sha256"] for entry in into.files if entry["sha256"]}
    parts = [(prefix, part) for prefix, of_set in sets.items() for part in of_set]
    description: dict[str, Any] = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": project.slug,
        "alternateName": project.name,
        "description": publication.description or project.description or project.name,
        "citeAs": publication.citation or citation.sentence(published),
    }
    if publication.licence:
        description["license"] = publication.licence
        if publication.texts and publication.texts_licence:
            description["license"] = [publication.licence, publication.texts_licence]
    if languages := publication.languages.split():
        description["inLanguage"] = [tag.partition("-")[0] for tag in languages]
    if creators := citation.creators_of(publication):
        description["creator"] = [
            {"@type": "sc:Person", "name": " ".join(filter(None, (given_names, family)))}
            for family, given_names in creators
        ]
    if publication.publisher:
        description["publisher"] = {"@type": "sc:Organization", "name": publication.publisher}
    if publication.year:
        description["datePublished"] = str(publication.year)
    description["distribution"] = [
        {
            "@type": "cr:FileObject",
            "@id": prefix + part.file,
            "name": prefix + part.file,
            "contentUrl": prefix + part.file,
            "encodingFormat": "application/jsonlines",
            "sha256": sums[prefix + part.file],
        }
        for prefix, part in parts
    ]
    description["recordSet"] = [_record_set(prefix, part) for prefix, part in parts]
    return description


def _record_set(prefix: str, part: Part) -> dict[str, Any]:
    name = prefix + part.name
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{name}/{column}",
                "name": f"{name}/{column}",
                "dataType": TYPES[kind],
                **({"repeated": True} if kind == "list" else {}),
                "source": {
                    "fileObject": {"@id": prefix + part.file},
                    "extract": {"column": column},
                },
            }
            for column, kind in part.columns.items()
        ],
    }
