"""The description of a data set: the dataset card, and croissant.json for machines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from annotate.projects.models import Guideline, Project
from base.tags.figures import interval_remark
from base.texts import amount
from exporters.exports.files import Edition, FileFacts, Writer
from exporters.exports.layouts import about, citation
from exporters.exports.layouts.facts import EVERYWHERE, warnings_of
from exporters.exports.layouts.published import ALTERED, REVERSED, Published
from exporters.exports.layouts.rows import quoted
from exporters.exports.selection.labellers import labellers

# The hub's size categories, with the number of documents below which each applies.
SIZES = (
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (1_000_000, "100K<n<1M"),
    (10_000_000, "1M<n<10M"),
)
LARGEST = "10M<n<100M"
# The licences that the hub knows, by their SPDX names in lower case.
LICENCES = {
    **{
        name: name
        for name in (
            *("mit", "apache-2.0", "bsd-3-clause", "cc0-1.0"),
            *("cc-by-4.0", "cc-by-3.0", "cc-by-2.0", "cc-by-sa-4.0", "cc-by-sa-3.0"),
            *("cc-by-nc-4.0", "cc-by-nc-sa-4.0", "cc-by-nc-nd-4.0", "cc-by-nd-4.0"),
        )
    },
    "odc-by-1.0": "odc-by",
    "odbl-1.0": "odbl",
    "pddl-1.0": "pddl",
}
# The folder of the set with the reversed narratives.
OF_REVERSED = "reversed/"


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


class Config(NamedTuple):
    """One config of a data set: its split, its file and the types of its columns."""

    name: str
    split: str
    file: str
    columns: dict[str, str]


class Part(NamedTuple):
    """One config of a data set, with the size and the checksum of its file."""

    config: Config
    facts: FileFacts


def short(published: Published, parts: list[Part], side: str) -> str:
    """Return the README of a set in the layout `mteb`: its configs, and how to run the task.

    `side`: that of the narratives after the change.
    """
    head = ["---", *_configs(parts), *_dataset_info(parts), "---"]
    body = [
        f"# {published.project.name}",
        f"Instruction reranking. {_sides(published, side)}",
        "Evaluate a model without a network:",
        "    HF_HUB_OFFLINE=1 HF_DATASETS_OFFLINE=1 python task.py MODEL",
    ]
    return "\n".join(head) + "\n\n" + "\n\n".join(body) + "\n"


def _sides(published: Published, side: str) -> str:
    """Describe which narratives a set has, and where the others are."""
    twice = (
        "Each query occurs twice: `-og` with its original narrative and `-changed` with the "
        f"{side} one. `qrel_diff` names the documents whose relevance changed, by pair."
    )
    if side == ALTERED and published.pairs[REVERSED]:
        return f"{twice} The folder `{OF_REVERSED}` has a set of the reversed narratives."
    return twice


def full(published: Published, parts: list[Part], side: str) -> str:
    """Return the dataset card of a set: content, process of judging, agreement, known limits.

    `side`: that of the narratives after the change.
    """
    head = ["---", *_metadata(published, parts), *_configs(parts), *_dataset_info(parts), "---"]
    sections = [
        f"# {published.project.name}",
        published.publication.description or published.project.description,
        "## Contents",
        _table(
            ("config", "split", "rows"),
            [(its.name, its.split, f"{facts['lines']:,}") for its, facts in parts],
        ),
        _sides(published, side),
        "## How it was judged",
        *_process(published, side),
        "## Agreement of people",
        *_agreement(published.project),
        "## People",
        *_people(published.project),
        "## Labels of people and of machines",
        *_labellers(published),
        "## Checked labels",
        *(about.checks(published.project) or ["No claimed labels were checked by people."]),
        "## Known limits",
        "\n".join(f"- {sentence}" for sentence in [*warnings_of(published), EVERYWHERE]),
        "## Licence",
        _licence(published),
        "## Citation",
        published.publication.citation or citation.sentence(published.publication),
    ]
    return "\n".join(head) + "\n\n" + "\n\n".join(filter(None, sections)) + "\n"


def _metadata(published: Published, parts: list[Part]) -> list[str]:
    publication = published.publication
    lines = [f"pretty_name: {quoted(published.project.name)}"]
    if publication.licence:
        licence = LICENCES.get(publication.licence.lower())
        two = publication.texts and publication.texts_licence not in ("", publication.licence)
        if licence and not two:
            lines.append(f"license: {licence}")
        else:
            named = publication.rights if two else publication.licence
            lines += ["license: other", f"license_name: {quoted(named)}"]
    if languages := publication.languages.split():
        lines.append("language:")
        lines += [f"- {quoted(tag.partition('-')[0])}" for tag in languages]
    corpus = next(facts["lines"] for config, facts in parts if config.name == "corpus")
    size = next((name for most, name in SIZES if corpus < most), LARGEST)
    return [
        *lines,
        "annotations_creators:",
        "- expert-generated",
        "task_categories:",
        "- text-ranking",
        "size_categories:",
        f"- {size}",
    ]


def _configs(parts: list[Part]) -> list[str]:
    lines = ["configs:"]
    for config, _facts in parts:
        lines += [
            f"- config_name: {config.name}",
            "  data_files:",
            f"  - split: {config.split}",
            f"    path: {config.file}",
        ]
    return lines


def _dataset_info(parts: list[Part]) -> list[str]:
    """Return the entry of each config. Its checksum tells two releases apart in a cache.

    `datasets` caches a folder under its name and a hash of these lines, not of the files.
    """
    lines = ["dataset_info:"]
    for config, facts in parts:
        lines += [
            f"- config_name: {config.name}",
            f"  description: {config.file}, sha256 {facts['sha256']}",
            "  features:",
        ]
        for column, kind in config.columns.items():
            named = "list: string" if kind == "list" else f"dtype: {kind}"
            lines += [f"  - name: {column}", f"    {named}"]
        lines += [
            "  splits:",
            f"  - name: {config.split}",
            f"    num_bytes: {facts['bytes']}",
            f"    num_examples: {facts['lines']}",
        ]
    return lines


def _table(head: tuple[str, ...], lines: Sequence[tuple[str, ...]]) -> str:
    """Return a table in Markdown, each cell on one line."""
    cells = [[" ".join(cell.split()).replace("|", "\\|") for cell in line] for line in lines]
    rows = [head, ["---" for _ in head], *cells]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _process(published: Published, side: str) -> list[str]:
    project = published.project
    asked = {
        Project.Scope.POOL: "all candidates",
        Project.Scope.EXISTING: "all candidates except those written for an instruction",
    }.get(Project.Scope(project.judge_scope), "the candidates that were relevant before")
    process = (
        f"{amount(project.overlap_judge, 'person is', 'people are')} asked for each pair, to judge "
        f"{asked} under the {side} narrative, without seeing others' answers. A grade counts if "
        f"it is their consensus by the rule “{project.get_consensus_display()}”, or if a lead "
        "settled it."
    )
    paragraphs = [
        process,
        _table(
            ("grade", "name", "means"),
            [
                (str(grade.value), grade.name, grade.sentence)
                for grade in project.grades.order_by("value")
            ],
        ),
    ]
    guideline = Guideline.objects.latest_of(project)
    if guideline is not None:
        paragraphs.append(f"Guidelines, version {guideline.version}:")
        paragraphs.append("\n".join(f"> {line}".rstrip() for line in guideline.text.splitlines()))
    pairs = published.pairs[side]
    by_model = sum(pair.origin == "llm" for pair in pairs)
    categories = sorted({pair.category for pair in pairs if pair.category})
    paragraphs.append(
        f"{len(pairs):,} instruction pairs, {by_model:,} of them written by a language model"
        + (f"; categories: {', '.join(categories)}." if categories else ".")
    )
    return paragraphs


def _agreement(project: Project) -> list[str]:
    report = about.agreement(project)
    if report is None:
        return ["There is no agreement to report: no document was judged by two people."]
    lines = []
    for coefficient in report["coefficients"]:
        value = (
            coefficient["note"] if coefficient["value"] is None else f"{coefficient['value']:.3f}"
        )
        interval = coefficient["interval"]
        words = (
            f"{interval[0]:.3f} to {interval[1]:.3f}"
            if interval
            else coefficient["interval_note"] or "-"
        )
        if interval and (remark := interval_remark(coefficient["interval_note"])):
            words += f", {remark}"
        lines.append((coefficient["name"], value, words))
    computed = (
        f"Computed on {amount(report['units'], 'judged document')}, "
        f"{amount(report['ratings'], 'judgment')} and "
        f"{amount(report['raters'], 'person', 'people')}."
    )
    return [_table(("coefficient", "value", "95% interval"), lines), computed]


def _people(project: Project) -> list[str]:
    people = about.annotators(project)
    if not people:
        return ["There are no current judgments by people."]
    shown = [
        (str(person["annotator"]), person["name"] or "", f"{person['judgments']:,}")
        for person in people
    ]
    return [
        _table(("annotator", "name", "judgments"), shown),
        "Only people who agreed to it are named.",
    ]


def _labellers(published: Published) -> list[str]:
    labels = labellers(published.project)
    counted = (
        f"Of the labels in all qrels {labels['people']:,} are what people's judgments come to, and "
        f"{labels['checked']:,} what people's checks of a machine's label come to."
    )
    if not labels["machines"]:
        return [counted, "No machine gave a label."]
    rows = []
    remarks = []
    for machine in labels["machines"]:
        model = machine["model"] or "not known: loaded from a file"
        prompt = "-"
        if machine["prompt_version"]:
            prompt = f"version {machine['prompt_version']}, sha256 {machine['prompt_sha256']}"
        rows.append((machine["machine"], model, prompt, f"{machine['labels']:,}"))
        sentences = filter(None, [*machine["certificates"], machine["circularity"]])
        remarks += [f"- {machine['machine']}: {sentence}" for sentence in sentences]
    return [
        counted,
        _table(("machine", "model", "prompt", "its labels, unchecked"), rows),
        "" if published.machines else "This data set has no labels of machines.",
        "\n".join(remarks),
    ]


def _licence(published: Published) -> str:
    publication = published.publication
    if not publication.licence:
        return "No licence is given."
    return publication.rights + (
        "" if publication.texts else " The texts of documents are not part of this data set."
    )


def write(published: Published, parts: list[Part], into: Writer) -> None:
    """Write croissant.json; `parts` are those of every set."""
    with into.file(NAME, "The data set described for machines: Croissant 1.0.") as stream:
        text = json.dumps(_describe(published, parts, into.edition), ensure_ascii=False, indent=2)
        stream.write((text + "\n").encode())


def _describe(published: Published, parts: list[Part], edition: Edition | None) -> dict[str, Any]:
    publication, project = published.publication, published.project
    description: dict[str, Any] = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": project.slug,
        "alternateName": project.name,
        "description": publication.description or project.description or project.name,
        "citeAs": publication.citation or citation.sentence(published.publication),
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
    if edition is not None:
        description["version"] = edition.name
        description["datePublished"] = edition.date
    elif publication.year:
        description["datePublished"] = str(publication.year)
    description["distribution"] = [
        {
            "@type": "cr:FileObject",
            "@id": facts["name"],
            "name": facts["name"],
            "contentUrl": facts["name"],
            "encodingFormat": "application/jsonlines",
            "sha256": facts["sha256"],
        }
        for _config, facts in parts
    ]
    description["recordSet"] = [_record_set(config, facts["name"]) for config, facts in parts]
    return description


def _record_set(config: Config, file: str) -> dict[str, Any]:
    """Describe a config, whose `file` is in the folder of its set."""
    name = file.removesuffix(config.file) + config.name
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
                    "fileObject": {"@id": file},
                    "extract": {"column": column},
                },
            }
            for column, kind in config.columns.items()
        ],
    }
