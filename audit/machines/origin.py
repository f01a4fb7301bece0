"""What a machine is: a model that was asked here, and the runs that name the same model."""

from __future__ import annotations

import re
from typing import Annotated, NamedTuple

from django.db.models import Q

from annotate.collection.models import Run
from annotate.projects.models import Membership
from audit.model_runs.models import ModelRun
from base.bulk import in_byte_order

# The family of a model: the letters that its name begins with, without the folder of its makers, as
# in "meta-llama/Llama-3.1-8B". Two letters would occur in too many names.
_FAMILY = re.compile(r"[a-z]{3,}")


class Circularity(NamedTuple):
    """Runs of the model that judged, or of a relative, as far as their names say so."""

    family: Annotated[str, "What the model's name begins with; its relatives contain it."]
    runs: Annotated[list[str], "Runs whose name or tag contains it."]

    @property
    def sentence(self) -> str:
        """A warning that names the runs; "" without any."""
        if not self.runs:
            return ""
        which = f"The run {self.runs[0]} names"
        if len(self.runs) > 1:
            which = f"The runs {', '.join(self.runs)} name"
        return (
            f"{which} “{self.family}”, as this machine does: a model may prefer results of its own "
            "family. Compare these systems by people’s labels."
        )


def origin_of(machine: Membership) -> ModelRun | None:
    """Return the first run of a machine, with its model and its prompt; None if its labels were
    loaded from a file.
    """
    runs = ModelRun.objects.filter(project=machine.project_id, machine=machine.name)
    return runs.select_related("endpoint", "prompt").order_by("pk").first()


def family_of(model: str) -> str:
    """Return what the names of a model's relatives contain, in lower case."""
    name = model.casefold().rpartition("/")[2]
    family = _FAMILY.match(name)
    return family[0] if family else name


def circularity_of(machine: Membership) -> Circularity:
    """Return the runs whose name or tag contains the family of the machine's model: two queries.

    A machine from a file is its own model by name.
    """
    origin = origin_of(machine)
    family = family_of(origin.endpoint.model if origin else machine.name)
    named = Q(name__icontains=family) | Q(tag__icontains=family)
    runs = Run.objects.filter(named, project=machine.project_id).order_by(in_byte_order("name"))
    return Circularity(family, list(runs.values_list("name", flat=True)))
