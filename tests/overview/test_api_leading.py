"""A program works for a lead: it makes a project, loads files, sets rules, reads progress."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from annotate.judgments import assignments
from annotate.models import (
    Adjudication,
    Assignment,
    Category,
    Flag,
    Guideline,
    Load,
    Membership,
    RejudgeRequest,
)
from tests import factories
from tests.programs import Program


class Scene:
    """A project with one pair, judged by ada and ben, and carla's program."""

    def __init__(self):
        self.project = factories.project()
        self.carla = factories.lead(self.project)
        self.ada = factories.member(self.project, "ada")
        self.ben = factories.member(self.project, "ben")
        self.query = factories.query(self.project)
        self.candidate = factories.candidate(self.query, "A")
        self.pair = factories.pair(self.query, category="C1")
        self.narrative = factories.altered(self.pair)
        self.program = Program("carla", "lead", "judge")

    def ask(self, what: str, **headers):
        return self.program.get(f"projects/tides/{what}", **headers)

    def send(self, verb: str, what: str, content=None, **headers):
        return self.program.send(verb, f"projects/tides/{what}", content, **headers)

    def judge(self):
        for member, grade in ((self.ada, 0), (self.ben, 2)):
            assignments.take(pair=self.pair, task=Assignment.Task.JUDGE, by=member)
            factories.judgment(self.narrative, self.candidate, member, grade)


@pytest.fixture(scope="module")
def scene_of_file(rows_of_file):
    return Scene()


def test_a_project_is_made_changed_archived_and_brought_back(scene):
    sent = {"slug": "reefs", "name": "Reefs", "grades": [0, 1, 2, 3]}
    made = scene.program.send("POST", "projects/", sent)
    changed = scene.program.send(
        "PATCH",
        "projects/reefs/",
        {
            "overlap_judge": 3,
            "grades": [{"value": 0, "name": "No"}, {"value": 1, "name": "Yes", "sentence": "So."}],
        },
    )
    gone = scene.program.send("PUT", "projects/reefs/archiving/")
    refused = scene.program.send("PATCH", "projects/reefs/", {"overlap_judge": 4})
    archived = scene.program.get("projects/?archived=true").json()["results"]
    back = scene.program.send("DELETE", "projects/reefs/archiving/")

    assert (made.status_code, made.json()["role"]) == (201, "lead")
    assert changed.json()["rules"]["overlap_judge"] == 3
    assert changed.json()["grades"][1] == {"value": 1, "name": "Yes", "sentence": "So."}
    assert gone.json()["archived_at"] is not None
    assert refused.status_code == 422
    assert [one["slug"] for one in archived] == ["reefs"]
    assert back.json()["archived_at"] is None


def test_annotators_do_not_see_the_rules_of_leads(scene):
    answer = Program("ada").get("projects/tides/").json()

    assert answer["rules"] is None
    assert [grade["value"] for grade in answer["grades"]] == [0, 1, 2]


def test_a_member_changes_role_leaves_and_comes_back(scene):
    path = f"members/{scene.ada.pk}/"

    led = scene.send("PATCH", path, {"role": "lead"}).json()
    gone = scene.send("PATCH", path, {"left": True}).json()
    back = scene.send("PATCH", path, {"left": False}).json()
    both = scene.send("PATCH", path, {"left": True, "role": "annotator"})

    assert (led["role"], led["left_at"]) == ("lead", None)
    assert gone["left_at"] is not None
    assert (back["role"], back["left_at"]) == ("lead", None)
    assert both.status_code == 400
    assert Membership.objects.get(name="ada").left_at is None


def test_the_last_lead_stays(scene):
    response = scene.send("PATCH", f"members/{scene.carla.pk}/", {"role": "annotator"})

    assert (response.status_code, response.json()["code"]) == (422, "refused")


def upload(scene, name="q.txt", content=b"301 0 B 1\n", **headers):
    return scene.program.client.post(
        "/api/v1/projects/tides/loads/",
        {"file": SimpleUploadedFile(name, content), "format": "trec-qrels", "no_grade": "-1"},
        headers=headers,
    )


@pytest.mark.usefixtures("storage", "published")
def test_a_file_is_uploaded_previewed_and_loaded(scene, finish_jobs):
    preview = upload(scene).json()
    finish_jobs()
    seen = scene.ask(f"loads/{preview['id']}/").json()
    load = scene.send("PUT", f"loads/{preview['id']}/confirmation/").json()
    twice = scene.send("PUT", f"loads/{preview['id']}/confirmation/").json()
    finish_jobs()
    loaded = scene.ask(f"loads/{load['id']}/").json()

    assert (preview["state"], preview["dry_run"], preview["no_grade"]) == ("queued", True, -1)
    assert (seen["state"], seen["report"]["new"], seen["report"]["refused"]) == ("done", 1, 0)
    assert twice["id"] == load["id"]
    assert (loaded["state"], loaded["preview"]) == ("done", preview["id"])
    assert scene.query.candidates.count() == 2
    listed = scene.ask("loads/").json()["results"]
    # The confirmed preview is not listed, only its load.
    assert [one["id"] for one in listed] == [load["id"]]
    assert "report" not in listed[0]


@pytest.mark.usefixtures("storage", "published")
def test_a_run_is_uploaded_with_its_side(scene):
    file = SimpleUploadedFile("bm25.run", b"301 Q0 B 1 2.0 t\n")

    preview = scene.program.client.post(
        "/api/v1/projects/tides/loads/", {"file": file, "format": "trec-run", "side": "original"}
    )

    assert preview.json()["side"] == "original"


@pytest.mark.usefixtures("storage", "published")
def test_a_bad_line_is_named_and_nothing_is_loaded(scene, finish_jobs):
    preview = upload(scene, content=b"301 0 B one\n").json()
    finish_jobs()

    seen = scene.ask(f"loads/{preview['id']}/").json()
    refused = scene.send("PUT", f"loads/{preview['id']}/confirmation/")
    left = scene.send("PUT", f"loads/{preview['id']}/leaving/")

    assert (seen["report"]["problems"][0]["file"], seen["report"]["problems"][0]["line"]) == (
        "q.txt",
        1,
    )
    assert (refused.status_code, left.status_code) == (422, 204)
    assert scene.query.candidates.count() == 1


@pytest.mark.usefixtures("storage", "published")
def test_a_refused_file_is_checked_again_in_its_likely_format(scene, finish_jobs):
    refused = upload(scene, content=b"301 Q0 B 1 2.5 bm25\n").json()
    finish_jobs()

    seen = scene.ask(f"loads/{refused['id']}/").json()
    answered = scene.send("POST", f"loads/{refused['id']}/recheck/")
    finish_jobs()
    twice = scene.send("POST", f"loads/{refused['id']}/recheck/")

    assert (seen["report"]["refused"], seen["report"]["likely_format"]) == (1, "trec-run")
    assert (answered.status_code, answered.json()["format"]) == (201, "trec-run")
    again = scene.ask(f"loads/{answered.json()['id']}/").json()
    assert (again["state"], again["report"]["refused"]) == ("done", 0)
    assert (twice.status_code, twice.json()["code"]) == (422, "refused")


@pytest.mark.usefixtures("storage", "published")
def test_a_file_sent_twice_with_one_key_is_kept_once(scene):
    first = upload(scene, **{"Idempotency-Key": "a file"})
    second = upload(scene, **{"Idempotency-Key": "a file"})
    other = upload(scene, content=b"301 0 C 1\n", **{"Idempotency-Key": "a file"})

    assert first.json() == second.json()
    assert (first.status_code, second["Idempotent-Replayed"]) == (201, "true")
    assert other.status_code == 422
    assert Load.objects.count() == 1


@pytest.mark.parametrize(
    ("name", "content", "format_name", "status"),
    [
        ("q.txt", b"", "trec-qrels", 400),
        ("q.txt", b"301 0 B 1\n", "no-such-format", 400),
    ],
)
def test_an_empty_file_or_an_unknown_format_is_refused(
    scene, storage, name, content, format_name, status
):
    response = scene.program.client.post(
        "/api/v1/projects/tides/loads/",
        {"file": SimpleUploadedFile(name, content), "format": format_name},
    )

    assert response.status_code == status
    assert not Load.objects.exists()


def test_the_formats_that_can_be_loaded_are_listed(scene):
    names = [one["name"] for one in scene.program.get("formats/").json()]

    assert {"trec-qrels", "trec-topics", "docs-jsonl"} <= set(names)


def test_categories_are_set_and_a_taxonomy_is_adopted(scene):
    kinds = [{"key": "C9", "name": "Odd", "sentence": ""}]

    put = scene.send("PUT", "categories/", {"categories": kinds})
    taken = scene.send("POST", "categories/taking/", {"name": "FollowTable"})

    assert put.json() == {"categories": kinds}
    assert [one["key"] for one in taken.json()["categories"]] == [
        "C9",
        "C1",
        "C2",
        "S1",
        "S2",
        "S3",
    ]
    assert Category.objects.count() == 6


def test_guidelines_are_written_and_a_stale_version_is_refused(scene):
    first = scene.send("POST", "guidelines/", {"text": "Read it all.", "based_on": 0})
    slower = scene.send("POST", "guidelines/", {"text": "Skim it.", "based_on": 0})
    (listed,) = Program("ada").get("projects/tides/guidelines/").json()["results"]
    read = Program("ada").get("projects/tides/guidelines/1/").json()

    assert (first.status_code, slower.status_code) == (201, 409)
    assert (listed["version"], listed["author"], "text" in listed) == (1, "carla", False)
    assert (read["text"], read["led_by"]) == ("Read it all.", None)


def test_a_case_leads_to_a_version_and_its_answers_have_no_names(scene):
    scene.judge()
    Adjudication.objects.create(
        narrative=scene.narrative,
        candidate=scene.candidate,
        relevance=2,
        reason="Agreed.",
        cause="guideline",
        by=scene.carla,
    )
    case = {"narrative": scene.narrative.pk, "candidate": scene.candidate.pk}

    made = scene.send("POST", "guidelines/", {"text": "Count it.", "based_on": 0, "cases": [case]})

    assert made.json()["led_by"] == [{**case, "hidden": False, "answers": [0, 2], "settled": 2}]


def test_older_answers_are_requested_again_with_the_token_of_their_count(scene):
    scene.judge()
    scene.send("POST", "guidelines/", {"text": "Read it all.", "based_on": 0})
    path = "guidelines/1/rejudge-requests/"
    words = {"words": "Once more, please."}

    seen = scene.ask(path).json()["older"]
    conflict = scene.send("POST", path, {**words, "token": "1-1-"})
    requested = scene.send("POST", path, {**words, "token": seen["token"]})
    after = scene.ask(path).json()
    back = scene.send("DELETE", path)

    assert (seen["answers"], seen["people"], seen["unreachable"]) == (2, 2, 0)
    assert (conflict.status_code, requested.json()) == (409, {"answers": 2})
    assert (after["older"]["answers"], after["open"]) == (0, 2)
    assert back.json() == {"answers": 2}
    assert not RejudgeRequest.objects.not_withdrawn().exists()


@pytest.mark.parametrize("chosen", ["grade=2", "among=differing", "among=flags"])
def test_a_lead_who_still_judges_may_not_count_by_answers(scene, chosen):
    scene.judge()
    other = factories.pair(factories.query(scene.project, "302"))
    factories.candidate(other.query)
    assignments.take(pair=other, task=Assignment.Task.JUDGE, by=scene.carla, become_blind=True)
    Guideline.objects.create(project=scene.project, version=1, text="Read.", author=scene.carla)

    assert scene.ask("guidelines/1/rejudge-requests/").status_code == 200
    refused = scene.ask(f"guidelines/1/rejudge-requests/?{chosen}")

    assert refused.status_code == 400
    assert "others' answers" in refused.json()["errors"][0]["detail"]


def test_progress_and_pace_count_what_the_pages_count(scene):
    scene.judge()

    progress = scene.ask("progress/").json()
    pace = scene.ask("pace/?days=14").json()

    assert (progress["answered"], progress["wanted"]) == (2, 2)
    assert [one["task"] for one in progress["tasks"]] == ["rewrite", "judge", "review"]
    assert (pace["zone"], pace["answered"], pace["left"]) == ("UTC", 2, 0)
    assert pace["outlook"] == {"estimate": None, "unknown": "nothing_left"}
    assert [(one["name"], one["answered"]) for one in pace["people"]] == [
        ("ada", 1),
        ("ben", 1),
        ("carla", 0),
    ]
    assert (len(pace["days"]), pace["days"][-1]["counting"]) == (56, 2)


def test_people_read_their_own_pace_but_not_anothers(scene):
    scene.judge()
    ada = Program("ada")

    mine = ada.get(f"projects/tides/members/{scene.ada.pk}/pace/")
    another = ada.get(f"projects/tides/members/{scene.ben.pk}/pace/")

    assert (mine.status_code, mine.json()["answered"]) == (200, 1)
    assert another.status_code == 403


def test_the_matrix_shows_answers_and_can_be_filtered(scene):
    scene.judge()

    (row,) = scene.ask("matrix/").json()["results"]
    disputed = scene.ask("matrix/?state=disputed&query=301").json()
    settled = scene.ask("matrix/?state=settled").json()

    assert (row["doc_id"], row["state"], row["relevance"]) == ("A", "disputed", None)
    assert [(cell["state"], cell["relevance"]) for cell in row["cells"]] == [
        ("judged", 0),
        ("judged", 2),
    ]
    assert len(disputed["results"]) == 1
    assert settled["results"] == []


@pytest.mark.parametrize(
    "query", ["state=all", "query=999", "person=0", "after=x", "grades=two", "person=999999"]
)
def test_an_invalid_filter_is_refused(scene, query):
    assert scene.ask(f"matrix/?{query}").status_code == 400


def test_a_matrix_of_many_rows_comes_in_parts(scene):
    for number in range(55):
        factories.candidate(scene.query, f"D{number:02}")

    first = scene.ask("matrix/").json()
    second = scene.program.client.get(first["next"]).json()

    assert (len(first["results"]), first["previous"]) == (50, None)
    assert (len(second["results"]), second["next"]) == (6, None)
    assert second["previous"].endswith(
        f"before={scene.pair.pk}~{second['results'][0]['candidate']}"
    )


def test_flags_are_listed_with_their_words_and_filtered(scene):
    Flag.objects.create(
        narrative=scene.narrative,
        candidate=scene.candidate,
        annotator=scene.ada,
        flag="problem",
        note="Garbled.",
    )

    (listed,) = scene.ask("flags/").json()["results"]

    assert (listed["doc_id"], listed["name"], listed["words"]) == ("A", "ada", "Garbled.")
    assert scene.ask("flags/?kind=later").json()["results"] == []
    assert scene.ask(f"flags/?person={scene.ben.pk}").json()["results"] == []


def test_queries_pairs_and_candidates_are_read(scene):
    scene.judge()

    (query,) = scene.ask("queries/?search=tidal").json()["results"]
    one = scene.ask(f"queries/{scene.query.pk}/").json()
    (pair,) = scene.ask("pairs/?category=C1").json()["results"]
    (document,) = scene.ask(f"queries/{scene.query.pk}/candidates/").json()["results"]
    full = scene.program.get(f"pairs/{scene.pair.pk}/").json()
    text = scene.program.get(f"pairs/{scene.pair.pk}/documents/{scene.candidate.pk}/").json()

    assert (query["query_id"], query["answered"], query["wanted"]) == ("301", 2, 2)
    assert query["came_to"] == {"kept": 0, "dropped": 0, "others": 0, "disputed": 1}
    assert ([found["id"] for found in one["pairs"]], one["pool"]) == ([scene.pair.pk], 1)
    assert (pair["altered"], pair["sent_back"]) == (scene.narrative.pk, False)
    (under,) = document["under"]
    assert (document["prior_relevance"], under["outcome"]) == (1, "disputed")
    assert [(answer["member"], answer["relevance"]) for answer in under["answers"]] == [
        # Names are hidden until it is settled.
        (None, 0),
        (None, 2),
    ]
    assert [version["side"] for version in full["narratives"]] == ["original", "altered"]
    assert full["outcome"]["disputed"] == 1
    assert (text["doc_id"], text["text"]) == ("A", "Some text.")
    assert scene.ask("queries/?search=wind").json()["results"] == []
    assert scene.ask("pairs/?category=C2").json()["results"] == []


def test_a_lead_who_still_judges_sees_no_prior_and_no_outcome(scene):
    assignments.take(pair=scene.pair, task=Assignment.Task.JUDGE, by=scene.carla, become_blind=True)
    factories.judgment(scene.narrative, scene.candidate, scene.ada, 2)

    (document,) = scene.ask(f"queries/{scene.query.pk}/candidates/").json()["results"]
    (query,) = scene.ask("queries/").json()["results"]
    full = scene.program.get(f"pairs/{scene.pair.pk}/").json()

    assert document["prior_relevance"] is None
    assert [(under["outcome"], under["answers"]) for under in document["under"]] == [(None, [])]
    assert (query["came_to"], full["outcome"]) == (None, None)


def test_preferences_are_read_and_changed(scene):
    changed = scene.program.send("PATCH", "me/preferences/", {"time_zone": "Asia/Tokyo"}).json()
    refused = scene.program.send("PATCH", "me/preferences/", {"time_zone": "Mars/Olympus"})

    assert (changed["time_zone"], changed["theme"]) == ("Asia/Tokyo", "")
    assert refused.status_code == 422
    assert scene.ask("pace/").json()["zone"] == "Asia/Tokyo"


def test_the_number_of_queries_does_not_grow_with_a_list(scene, django_assert_num_queries):
    scene.ask("members/")
    # The first list counts the new pools.
    lists = {"queries/": 15, "pairs/": 3, "members/": 3, "flags/": 5, "guidelines/": 3}

    for number in range(5):
        factories.candidate(query := factories.query(scene.project, f"4{number}"))
        factories.pair(query)
    for what, count in lists.items():
        with django_assert_num_queries(count):
            assert scene.ask(what).status_code == 200, what


def test_an_account_is_added_as_a_member_and_an_unknown_name_is_refused(scene):
    factories.user("nina")

    joined = scene.send("POST", "members/", {"username": "nina", "role": "annotator"})
    nobody = scene.send("POST", "members/", {"username": "olaf"})

    assert (joined.status_code, joined.json()["name"]) == (201, "nina")
    assert (nobody.status_code, scene.project.memberships.filter(name="olaf").exists()) == (
        422,
        False,
    )


def test_an_invitation_link_is_shown_once_mailed_listed_and_withdrawn(scene, client, mailoutbox):
    sent = {"username": "olaf", "email": "olaf@example.org", "role": "lead", "days": 3}
    key = {"Idempotency-Key": "olaf"}

    made = scene.send("POST", "invitations/", sent, **key).json()
    again = scene.send("POST", "invitations/", sent, **key).json()
    (listed,) = scene.ask("invitations/").json()["results"]
    page = client.get(made["url"].removeprefix("http://testserver"))
    gone = scene.send("DELETE", f"invitations/{made['id']}/")

    assert (made["mailed"], len(mailoutbox)) == (True, 1)
    assert made["url"] in mailoutbox[0].body
    assert again == {**made, "url": None}
    assert listed == {name: value for name, value in made.items() if name in listed}
    assert "url" not in listed
    assert page.status_code == 200
    assert gone.status_code == 204
    assert scene.ask("invitations/").json()["results"] == []


def test_the_audit_log_is_read_newest_first_and_filtered(scene):
    scene.send("PATCH", "", {"overlap_judge": 3})
    scene.send("PATCH", f"members/{scene.ada.pk}/", {"role": "lead"})

    newest, older = scene.ask("audit-log/").json()["results"]
    narrowed = scene.ask(f"audit-log/?what={older['what']}").json()["results"]

    assert (newest["who"], newest["about"]) == ("carla", "ada")
    assert older["changes"] == {"overlap_judge": [2, 3]}
    assert narrowed == [older]
    assert scene.ask("audit-log/?what=nothing.known").status_code == 400


def test_the_audit_log_is_downloaded_as_a_table_oldest_first(scene):
    scene.send("PATCH", "", {"overlap_judge": 3})
    scene.send("PATCH", f"members/{scene.ada.pk}/", {"role": "lead"})

    table = scene.ask("audit-log/table/")
    head, *lines = table.getvalue().decode().splitlines()
    narrowed = scene.ask("audit-log/table/?what=project.rules").getvalue().decode().splitlines()
    ada = Program("ada", "lead")
    scene.send("PATCH", f"members/{scene.ada.pk}/", {"role": "annotator"})

    assert table["Content-Type"] == "text/csv; charset=utf-8"
    assert head.lstrip("\ufeff") == "uuid,at,who,what,about,kind,key,words,changes"
    assert [line.split(",")[2:4] for line in lines] == [
        ["carla", "project.rules"],
        ["carla", "member.role"],
    ]
    assert len(narrowed) == 2
    assert scene.ask("audit-log/table/?since=yesterday").json()["errors"][0]["pointer"] == "?since"
    assert ada.get("projects/tides/audit-log/table/").status_code == 403


def admin_program() -> Program:
    """Return the program of an administrator."""
    root = factories.user("root")
    root.is_superuser = root.is_staff = True
    root.save()
    return Program("root", "lead")


def test_administrators_invite_people_by_program(scene, client, mailoutbox):
    program, path = admin_program(), "accounts/invitations/"
    sent = {"username": "newcomer", "email": "newcomer@example.org", "days": 3}

    made = program.send("POST", path, sent, **{"Idempotency-Key": "one"})
    again = program.send("POST", path, sent, **{"Idempotency-Key": "one"}).json()
    (listed,) = program.get(path).json()["results"]
    page = client.get(made.json()["url"].removeprefix("http://testserver"))
    gone = [program.send("DELETE", f"{path}{made.json()['id']}/").status_code for _ in range(2)]
    closed = client.get(made.json()["url"].removeprefix("http://testserver"))

    assert (made.status_code, made["Cache-Control"]) == (201, "no-store")
    assert (made.json()["mailed"], len(mailoutbox)) == (True, 1)
    assert again == {**made.json(), "url": None}
    assert listed == {name: value for name, value in made.json().items() if name in listed}
    assert (listed["username"], "url" in listed, "role" in listed) == ("newcomer", False, False)
    assert (page.status_code, closed.status_code) == (200, 410)
    assert gone == [204, 204]
    assert program.get(path).json()["results"] == []


def test_leads_cannot_use_invitations_to_the_installation(scene):
    program = admin_program()
    made = program.send("POST", "accounts/invitations/", {}).json()
    hers = scene.send("POST", "invitations/", {"username": "other"}).json()

    assert scene.program.send("POST", "accounts/invitations/", {}).status_code == 403
    assert scene.program.send("DELETE", f"accounts/invitations/{made['id']}/").status_code == 403
    assert scene.send("DELETE", f"invitations/{made['id']}/").status_code == 404
    assert program.send("DELETE", f"accounts/invitations/{hers['id']}/").status_code == 404
    assert len(program.get("accounts/invitations/").json()["results"]) == 1


def test_administrators_read_the_audit_log_of_the_installation(scene):
    program = admin_program()
    program.send("PATCH", f"accounts/{scene.ada.user_id}/", {"is_active": False})
    program.send("PATCH", f"accounts/{scene.ada.user_id}/", {"is_active": True})

    entries = program.get("status/audit-log/?who=" + str(factories.user("root").pk)).json()[
        "results"
    ]
    table = program.get("status/audit-log/table/?what=account.closed").getvalue().decode()

    assert [one["what"] for one in entries][:2] == ["account.opened", "account.closed"]
    assert [line.split(",")[2:5] for line in table.splitlines()[1:]] == [
        ["root", "account.closed", "ada"]
    ]
    assert scene.program.get("status/audit-log/").status_code == 403
    assert scene.program.get("status/audit-log/table/").status_code == 403


def test_administrators_close_and_open_accounts(scene):
    root = factories.user("root")
    root.is_superuser = True
    root.save()
    ada = Program("ada")
    program = Program("root", "lead")
    path = f"accounts/{scene.ada.user_id}/"

    closed = program.send("PATCH", path, {"is_active": False}).json()
    listed = program.get("accounts/?closed=true").json()["results"]
    shut = ada.get("me/").status_code
    opened = program.send("PATCH", path, {"is_active": True}).json()
    signed_out = program.send("DELETE", f"{path}sessions/")
    own = program.send("PATCH", f"accounts/{root.pk}/", {"is_active": False})

    assert (closed["is_active"], opened["is_active"], closed["projects"]) == (False, True, 1)
    assert [account["username"] for account in listed] == ["ada"]
    assert (shut, signed_out.status_code, own.status_code) == (401, 204, 422)
    assert scene.program.get("accounts/").status_code == 403


def test_staff_see_failed_jobs_and_retry_them(scene, published, storage):
    root = factories.user("root")
    root.is_staff = True
    root.save()
    now = timezone.now()
    load = Load.objects.create(
        project=scene.project,
        by=scene.carla,
        format="trec-qrels",
        file_name="q.txt",
        file="q.txt",
        state="failed",
        error="The disk is full.",
        finished_at=now,
    )
    program = Program("root", "lead")

    status = program.get("status/").json()
    again = program.send("PUT", f"status/jobs/{load.pk}/retry/")
    nobody = scene.program.get("status/")

    assert [(one["kind"], one["error"]) for one in status["failed"]] == [
        ("load", "The disk is full.")
    ]
    assert (again.status_code, again.json()["state"]) == (200, "queued")
    assert nobody.status_code == 403
