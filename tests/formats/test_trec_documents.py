from __future__ import annotations

import pytest

from formats.records import Doc
from tests.formats.files import read, read_collecting, refusal, write_records

NEWS = """<DOC>
<DOCNO> FT911-3 </DOCNO>
<PROFILE>_AN-BEOA7AAIFT</PROFILE>
<DATE>910514
</DATE>
<HEADLINE>
FT  14 MAY 91 / Harbour
to be deepened
</HEADLINE>
<TEXT>
The harbour of Smith &amp; Sons
costs &lt;10 million.
</TEXT>
<PUB>The Times
</PUB>
</DOC>
"""


def test_number_headline_and_text_are_kept():
    assert read("trec-docs", NEWS) == [
        Doc(
            "FT911-3",
            "FT 14 MAY 91 / Harbour to be deepened",
            "The harbour of Smith & Sons\ncosts <10 million.",
        )
    ]


def test_paragraph_tags_become_blank_lines_and_inner_tags_are_dropped():
    text = (
        "<DOC>\n<DOCNO>LA010189-0001</DOCNO>\n<HEADLINE>\n<P>\nSmall fire\n</P>\n</HEADLINE>\n"
        "<TEXT>\n<P>\nOne.\n</P>\n<P>\nTwo <F P=102> three</F>.\n</P>\n"
        "<!-- PJG FTAG 4700 -->\n</TEXT>\n</DOC>\n"
    )

    assert read("trec-docs", text) == [Doc("LA010189-0001", "Small fire", "One.\n\nTwo  three.")]


def test_a_bare_less_than_sign_and_unknown_tags_are_text():
    text = "<DOC><DOCNO>a</DOCNO><TEXT>x <14 & vector<int> &amp; AT&T</TEXT></DOC>"

    assert read("trec-docs", text) == [Doc("a", "", "x <14 & vector<int> & AT&T")]


def test_several_texts_are_joined():
    text = "<DOC><DOCNO>a</DOCNO><TEXT>one</TEXT>\n<TEXT>two</TEXT></DOC>"

    assert read("trec-docs", text) == [Doc("a", "", "one\n\ntwo")]


def test_a_text_that_is_not_closed_ends_with_its_document():
    text = "<DOC><DOCNO>a</DOCNO>\n<TEXT>\none\n</DOC>\n"

    assert read("trec-docs", text) == [Doc("a", "", "one")]


def test_several_documents_may_share_a_line():
    text = "<doc><docno>a</docno><text>1</text></doc><DOC><DOCNO>b</DOCNO><TEXT>2</TEXT></DOC>\n"

    assert read("trec-docs", text) == [Doc("a", "", "1"), Doc("b", "", "2")]


def test_the_text_of_a_document_without_text_section_is_the_rest_without_tags():
    text = (
        "<DOC>\n<DOCNO>WTX-1</DOCNO>\n<DOCHDR>\nhttp://example.org\n</DOCHDR>\n"
        "<html><head><title>A page</title></head><script>alert(1)</script>\n"
        "<body><p>Hello <b>there</b></body></html>\n</DOC>\n"
    )

    assert read("trec-docs", text) == [Doc("WTX-1", "A page", "Hello there")]


def test_a_document_with_only_a_number_is_known_by_its_id():
    assert read("trec-docs", "<DOC>\n<DOCNO> a </DOCNO>\n</DOC>\n") == [Doc("a", "", None)]


def test_an_empty_text_is_not_a_missing_one():
    assert read("trec-docs", "<DOC>\n<DOCNO> a </DOCNO>\n<TEXT>\n</TEXT>\n</DOC>") == [
        Doc("a", "", "")
    ]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("<DOC>\n<TEXT>x</TEXT>\n</DOC>\n", "file, line 1: a document has no <DOCNO>"),
        (
            "<DOC>\n<DOCNO>a b</DOCNO>\n</DOC>\n",
            "file, line 1: the DOCNO 'a b' contains white space",
        ),
        (
            "<DOC>\n<DOCNO>a</DOCNO></DOC>\n<DOC><DOCNO>a</DOCNO></DOC>\n",
            "file, line 3: document a was already on line 1",
        ),
        (
            "<DOC>\n<DOCNO>a</DOCNO>\n<TEXT>\nno end",
            "file, line 1: the document is not closed (</DOC>): is the file cut off?",
        ),
        ("<DOC><DOCNO>a</DOCNO></DOC>\n</DOC>", "file, line 2: </DOC> without <DOC>: </DOC>"),
        (
            "<DOC><DOCNO>a</DOCNO>\n<DOC><DOCNO>b</DOCNO></DOC>",
            (
                "file, line 2: <DOC> inside the document that begins on line 1: "
                "<DOC><DOCNO>b</DOCNO></DOC>"
            ),
        ),
        (
            "<DOC><DOCNO>a</DOCNO></DOC>\nlost words\n",
            "file, line 2: text outside of a document: lost words",
        ),
    ],
)
def test_bad_documents_are_refused_with_a_sentence(text, sentence):
    assert str(refusal("trec-docs", text)) == sentence


def test_a_bad_document_does_not_hide_the_next():
    docs, problems = read_collecting("trec-docs", "<DOC><TEXT>x</TEXT></DOC>\n" + NEWS)

    assert [doc.doc_id for doc in docs] == ["FT911-3"]
    assert len(problems) == 1


def test_text_is_written_with_references():
    assert write_records("trec-docs", [Doc("a", "t & u", "x < y\n</TEXT>")]).decode() == (
        "<DOC>\n<DOCNO> a </DOCNO>\n<HEADLINE> t &amp; u </HEADLINE>\n"
        "<TEXT>\nx &lt; y\n&lt;/TEXT&gt;\n</TEXT>\n</DOC>\n"
    )


def test_a_table_is_not_written():
    with pytest.raises(ValueError, match="document a is html; trec-docs holds plain text only"):
        write_records("trec-docs", [Doc("a", "", "<table></table>", "html")])
