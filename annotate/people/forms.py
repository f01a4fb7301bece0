"""Forms of people: invitations, joining, tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib.auth.password_validation import validate_password

from annotate.people.models import Invitation
from annotate.people.tokens import MOST_DAYS
from annotate.projects.models import Membership
from base.users import Scope, User

# The requirements of the validators in the settings, in one sentence.
RULES_OF_PASSWORDS = (
    "At least 10 characters; not a common password, not only digits, not similar to your name."
)


# Fields that a password must not resemble.
OF_THE_PERSON = ("username", "email")

# For how long a link is valid.
DAYS = [(1, "1 day"), (7, "7 days"), (30, "30 days")]


class InvitationForm(forms.Form):
    """An invitation to the installation."""

    username = forms.CharField(
        max_length=150,
        required=False,
        label="User name",
        help_text="If it is empty, they choose.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none"}),
    )
    email = forms.EmailField(
        required=False,
        label="Mail address",
        help_text=(
            "The link is also mailed there, if a mail server is set up. Empty: you hand it over."
        ),
        widget=forms.EmailInput(attrs={"autocomplete": "off"}),
    )
    days = forms.TypedChoiceField(
        label="The link is valid for",
        coerce=int,
        choices=DAYS,
        initial=7,
    )


class MemberForm(InvitationForm):
    """A person to add to a project: at once with an account, else by a link."""

    role = forms.ChoiceField(
        label="Role",
        choices=Membership.Role.choices,
        initial=Membership.Role.ANNOTATOR,
    )
    field_order = ("username", "role", "email", "days")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["username"].help_text = (
            "A person with an account becomes a member at once. Anybody else gets a link to "
            "create an account with this name; judgments of this name from files are then "
            "theirs. Empty: they choose a name."
        )


class SeveralForm(forms.Form):
    """Several people to invite, each to the same projects."""

    people = forms.CharField(
        label="People",
        max_length=40_000,
        help_text=(
            "One person per line: a user name, a mail address, or both with a comma between. A "
            "person with an account is added at once; anybody else gets a link."
        ),
        widget=forms.Textarea(
            attrs={
                "rows": 8,
                "autocomplete": "off",
                "autocapitalize": "none",
                "spellcheck": "false",
            }
        ),
    )
    days = forms.TypedChoiceField(
        label="The links are valid for", coerce=int, choices=DAYS, initial=7
    )

    def __init__(
        self, *args: Any, leading: Sequence[Membership], here: Membership, **kwargs: Any
    ) -> None:
        super().__init__(*args, **{"auto_id": "several_%s", **kwargs})
        self.leading = leading
        for lead in leading:
            field = forms.ChoiceField(
                label=lead.project.name,
                required=False,
                choices=[("", "Not invited"), *Membership.Role.choices],
                initial=Membership.Role.ANNOTATOR if lead.pk == here.pk else "",
            )
            self.fields[f"role-{lead.project.slug}"] = field

    @property
    def projects(self) -> list[forms.BoundField]:
        """Return the fields for the role in each project."""
        return [self[f"role-{lead.project.slug}"] for lead in self.leading]

    def roles(self) -> dict[Membership, str]:
        """Return the role in each chosen project, by the inviting person's membership."""
        chosen = {lead: self.cleaned_data[f"role-{lead.project.slug}"] for lead in self.leading}
        return {lead: role for lead, role in chosen.items() if role}


class JoinForm(forms.Form):
    """A new account, created with a link."""

    username = forms.CharField(
        max_length=150,
        label="User name",
        help_text="Others see it beside your judgments.",
        widget=forms.TextInput(attrs={"autocomplete": "username", "autocapitalize": "none"}),
    )
    email = forms.EmailField(
        required=False,
        label="Mail address",
        help_text="Used to send you a link if you lose your password.",
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )
    password = forms.CharField(
        label="Password",
        strip=False,
        help_text=RULES_OF_PASSWORDS,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    password_again = forms.CharField(
        label="Password again",
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )

    def __init__(self, *args: Any, invitation: Invitation, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["username"], self.initial["email"] = invitation.name, invitation.email
        if invitation.name:
            self.fields["username"].required = False
            self.fields["username"].widget.attrs["readonly"] = True

    def clean_password(self) -> str:
        """Refuse a weak password here, so that it is reported together with other errors."""
        password = str(self.cleaned_data["password"])
        values = {name: self.cleaned_data.get(name) or self.initial[name] for name in OF_THE_PERSON}
        validate_password(password, User(**values))
        return password

    def clean_password_again(self) -> str:
        """Refuse two passwords that differ."""
        again = str(self.cleaned_data["password_again"])
        if self.data.get("password") != again:
            raise forms.ValidationError("The two passwords differ. Type them again.")
        return again


class TokenForm(forms.Form):
    """A new token: its name, scopes and lifetime."""

    name = forms.CharField(
        max_length=100,
        help_text="What it is for. You need the name to end it.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    scopes = forms.MultipleChoiceField(
        label="What it may do in addition to reading",
        required=False,
        choices=[choice for choice in Scope.choices if choice[0] != Scope.READ],
        widget=forms.CheckboxSelectMultiple,
        help_text="Never more than you may do yourself.",
    )
    days = forms.IntegerField(
        label="Valid for so many days",
        min_value=1,
        max_value=MOST_DAYS,
        initial=90,
    )
