"""The form in which leads upload a file."""

from __future__ import annotations

from django import forms
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from annotate.collection.models import Run
from formats.registry import FORMATS


class LoadForm(forms.Form):
    """A file and its format."""

    file = forms.FileField(
        max_length=255,
        help_text=_("As it is, or compressed with gzip. A folder is uploaded as one zip archive."),
    )
    format = forms.ChoiceField(
        label=_("Format"),
        choices=[
            (
                one.name,
                format_html(
                    # The name as well: error sentences and the command line use it.
                    '{} <code>{}</code> <span class="below help">{}</span>',
                    one.title,
                    one.name,
                    one.description,
                ),
            )
            for one in FORMATS.values()
        ],
        widget=forms.RadioSelect,
    )
    no_grade = forms.IntegerField(
        label=_("Value that means no grade"),
        required=False,
        min_value=-32_768,
        max_value=32_767,
        help_text=_(
            "Only for judgments and qrels, for instance -1. In judgments such lines become “cannot "
            "judge” flags; in qrels their documents get no earlier relevance."
        ),
    )
    side = forms.ChoiceField(
        label=_("Side of a run"),
        required=False,
        choices=[("", _("as its ids indicate")), *Run.Side.choices],
        help_text=_("What a run ranks documents for. Lines of runs over instructions name pairs."),
    )
