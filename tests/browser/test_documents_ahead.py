"""Documents are fetched ahead, and fetched again if their answer has changed."""

from __future__ import annotations

from django.templatetags.static import static

# The test decides when the server's responses arrive.
RUN = """async (address) => {
    const { Stack } = await import(address);
    const answers = [];
    window.fetch = () => new Promise((resolve) => answers.push((answer) =>
        resolve({
            ok: true,
            redirected: false,
            text: async () =>
                '<div class="judge__document-view" data-candidate="1" ' +
                `data-answer="${answer}"></div>`,
        })));
    const stack = new Stack("/documents/");
    stack.aim([1]);
    const here = stack.ensure(1, true);
    answers[0]("before");
    const asked = async () => {
        while (answers.length < 2) await new Promise((resolve) => setTimeout(resolve));
    };
    await Promise.race([here, asked()]);
    answers[1]?.("after");
    return [await here, stack.get(1).dataset.answer, answers.length];
}"""


def test_an_older_response_is_not_taken_for_a_newer_request(page):
    page.goto("/accounts/login/")

    assert page.evaluate(RUN, static("js/judging/stack.js")) == [True, "after", 2]
