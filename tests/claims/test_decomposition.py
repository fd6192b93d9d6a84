from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vouching.claims import decompose


def texts(response: str) -> list[str]:
    return [claim.text for claim in decompose(response).claims]


def reasons(response: str) -> list[str]:
    return [other.reason for other in decompose(response).non_claims]


@pytest.mark.parametrize(
    ("response", "claims"),
    [
        (
            "Ann Lee was born in 1912 and moved to Paris in 1930.",
            ["Ann Lee was born in 1912", "Ann Lee moved to Paris in 1930."],
        ),
        (
            "In 1903, Marie Curie won the prize and became a star.",
            ["In 1903, Marie Curie won the prize", "Marie Curie became a star."],
        ),
        ("The cafe is small, but it has a bar.", ["The cafe is small", "it [the cafe] has a bar."]),
        ("The cafe offers tea; the bar was sold in 1990.", ["The cafe offers tea", "the bar was sold in 1990."]),
        (
            "Lee studied at Yale, and Kim worked in Rome.",
            ["Lee studied at Yale", "Kim worked in Rome."],
        ),
    ],
)
def test_a_compound_sentence_becomes_claims_that_stand_alone(response: str, claims: list[str]) -> None:
    assert texts(response) == claims


@pytest.mark.parametrize(
    "response",
    [
        "He was loved and respected by all.",
        "She studied physics and applied mathematics.",
        "Lee said the firm was sold and moved to Rome.",
        "The man who was born in 1912 and moved to Paris died.",
        "No student passed and went to Yale.",
        "She did not sing and was not seen there.",
        "He visited Paris, London, and the ruined city.",
        'She wrote "It was late and he went home" in 1990.',
        "Bread and butter were sold.",
        "The film was shot and edited in Rome.",
        "Growth brought diversity, wealth, and the continued struggle for rights.",
    ],
)
def test_a_sentence_stays_whole_when_the_split_is_not_sure(response: str) -> None:
    assert texts(response) == [response]


def test_spans_are_exact_and_exclude_markers_and_conjunctions() -> None:
    response = "Facts:\n- Ann Lee was born in 1912, but moved to **Paris** in 1930.\n2. Rome fell."
    claims = decompose(response).claims
    assert [claim.id for claim in claims] == ["claim-1", "claim-2", "claim-3"]
    spans = [claim.span for claim in claims if claim.span]
    assert [span.text for span in spans] == ["Ann Lee was born in 1912", "moved to **Paris** in 1930.", "Rome fell."]
    assert all(response[span.start : span.end] == span.text for span in spans)


def test_context_names_what_a_shared_subject_or_a_pronoun_leans_on() -> None:
    claims = decompose("Ann Lee was born in 1912 and died in 1990. She won a prize. It was gold.").claims
    assert [claim.context for claim in claims] == ["", "Ann Lee", "Ann Lee", "Ann Lee"]


def test_a_shared_pronoun_is_traced_to_the_name_before_it() -> None:
    second = decompose("Ann Lee was a poet. She was born in 1912 and moved to Paris.").claims[2]
    assert (second.text, second.context) == ("She [Ann Lee] moved to Paris.", "Ann Lee")


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("Sure!", "greeting"),
        ("Great question!", "greeting"),
        ("Thank you for your question.", "greeting"),
        ("Thanks for reaching out!", "greeting"),
        ("I hope this helps!", "greeting"),
        ("Let me know if you have any other questions.", "greeting"),
        ("Here is the summary:", "greeting"),
        ("Here is a short portrait of the two.", "greeting"),
        ("Gladly, here is the story in brief.", "greeting"),
        ("Sure, I have gone through the lease for you.", "greeting"),
        ("I can summarise what the leaflet says.", "greeting"),
        ("Good luck with your application!", "greeting"),
        ("Follow-ups:", "heading"),
        ("Sure, here are some benefits mentioned in the passages:", "greeting"),
        ("Did you know?", "question"),
        ("# Early life of Ann", "heading"),
        ("**Ingredients:**", "heading"),
        ("To make ghee at home, follow these steps:", "heading"),
        ("Here are the orders from Ann's e-mail as JSON:", "greeting"),
        ("Here are the key facts about Solvanex 400 mg:", "greeting"),
        ("Please consult a doctor.", "instruction"),
        ("You may want to double-check this with the dairy's staff.", "instruction"),
        ("It may be worth checking with the manufacturer.", "instruction"),
        ("We recommend that you consult a lawyer.", "instruction"),
        ("I think it is lovely.", "opinion"),
        ("I don't know.", "abstained"),
        ("Unable to answer based on given passages.", "abstained"),
        ("---", "fragment"),
        ("Indeed.", "fragment"),
        ("(Passage 1)", "fragment"),
    ],
)
def test_what_states_nothing_is_set_aside_with_its_reason(sentence: str, reason: str) -> None:
    assert reasons(f"{sentence}\n\nParis is the capital of France.") == [reason]


@pytest.mark.parametrize(
    "sentence",
    [
        "Note that Paris is large.",
        "Please note that the bar is closed.",
        "Of course, Paris is the capital of France.",
        "I think Paris has 2 million people.",
        "Ann Lee won three prizes in 1912:",
        "Unfortunately, the bridge fell.",
        "Here the fee is due in May.",
        "Here are 3 of the towers.",
        "Here are the 3 towers of Rome:",
        "I have read that smoking is safe.",
        "Enjoyment fell in all five towns.",
        "You can verify the result with the checksum.",
        "Thanks to Ann Lee, the mill was rebuilt.",
    ],
)
def test_anything_checkable_is_a_claim(sentence: str) -> None:
    assert texts(f"{sentence}\n\nRome fell in 476.") == [sentence, "Rome fell in 476."]


def test_half_a_sentence_that_speaks_to_the_reader_is_no_claim() -> None:
    response = "It has 15 trees, and I would advise you to ask a gardener about them."
    assert (texts(response), reasons(response)) == (["It has 15 trees"], ["greeting"])
    response = "It has 15 trees, and I can confirm that the oldest was planted in 1802."
    assert "1802" in " ".join(texts(response))


@pytest.mark.parametrize("answer", ["Paris", "1937", "Paris.", "the Eiffel Tower", "**1937**"])
def test_a_short_answer_that_is_the_whole_response_is_a_claim(answer: str) -> None:
    assert texts(answer) == [answer]


@pytest.mark.parametrize("answer", ["Yes", "No.", "**Yes.**", "Not yet."])
def test_yes_or_no_without_its_question_cannot_be_checked(answer: str) -> None:
    assert texts(answer) == []
    assert reasons(answer) == ["fragment"]


@pytest.mark.parametrize(
    ("answer", "question", "claim"),
    [
        ("Four.", "How many sons did Ann Lee have?", "[Ann Lee had] four [sons]."),
        ("Yes.", "Is the Golden Gate Bridge open?", "Yes [: the Golden Gate Bridge is open]."),
        ("Ada Berg.", "Who runs the firm?", "Ada Berg [runs the firm]."),
    ],
)
def test_a_short_answer_is_one_claim_with_its_question(answer: str, question: str, claim: str) -> None:
    [found] = decompose(answer, question).claims
    assert (found.text, found.context) == (claim, question)
    assert found.span is not None
    assert found.span.text == answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Why?", "Ada Berg."),
        ("Isn't it red?", "Ada Berg."),
        ("Ann asks who runs the firm.", "Ada Berg."),
        ("Give me the most tablets in 24 hours.", "Eight tablets."),
        ("How long?", "90 days."),
        ("Tell me about gift cards.", "GIFT CARDS ARE REFUNDABLE."),
        ("?", "Geschenkkarten werden innerhalb von 90 Tagen erstattet."),
    ],
)
def test_a_short_answer_that_does_not_fit_its_question_is_judged_as_it_stands(question: str, answer: str) -> None:
    [found] = decompose(answer, question).claims
    assert (found.text, found.context) == (answer, "")


@pytest.mark.parametrize("assent", ["Sure!", "Of course.", "Absolutely!", "Correct."])
def test_an_assent_is_a_yes_where_something_is_asked_and_none_where_something_is_asked_for(assent: str) -> None:
    [found] = decompose(assent, "May dogs swim in the lake?").claims
    assert found.text == f"{assent.rstrip('.!')} [: dogs may swim in the lake]."
    [found] = decompose(assent, "May I swim in the lake?").claims
    assert found.text == f"{assent.rstrip('.!')} [: you may swim in the lake]."
    assert not decompose(assent, "Can you sum up the report?").claims


def test_only_the_opening_of_an_answer_is_joined_with_its_question() -> None:
    claims = decompose("Lessons start at 8:50. On Mondays at 9:00.", "When do lessons start?").claims
    assert claims[0].text == "Lessons start at 8:50."


def test_an_antecedent_is_in_the_claim_and_not_in_its_span() -> None:
    response = "Albert Einstein was a physicist. He was born in 1867."
    second = decompose(response).claims[1]
    assert second.text == "He [Albert Einstein] was born in 1867."
    assert second.span is not None
    assert response[second.span.start : second.span.end] == "He was born in 1867."


def test_items_of_a_list_are_claims_even_if_short() -> None:
    assert texts("You need:\n* Salt\n* Black pepper\n1) Rice") == ["Salt", "Black pepper", "Rice"]


def test_cjk_sentences_are_claims() -> None:
    assert texts("東京は日本の首都です。大阪は大きい。") == ["東京は日本の首都です。", "大阪は大きい。"]
    assert reasons("東京は日本の首都ですか？はい、そうです。") == ["question"]


def test_nothing_comes_of_an_empty_response() -> None:
    assert decompose(" \n ") == decompose("")
    assert decompose("").claims == decompose("").non_claims == ()


WORDS = st.sampled_from(
    ["Ann Lee", "was", "born", "in 1912", "and", "moved", "to", ", but", ";", "he", "it", "went", "the bar", "not"]
) | st.sampled_from(
    [
        ".",
        "!",
        "?",
        "\n",
        "\n\n",
        "\n- ",
        "\n1. ",
        "\n# ",
        ":",
        '"',
        "(",
        ")",
        "**",
        "Sure",
        "|",
        "。",
        "東京",
        "Please",
    ]
)


@given(st.lists(WORDS | st.text(max_size=4), max_size=40).map(" ".join))
def test_no_character_is_lost_and_no_spans_overlap(response: str) -> None:
    parts = decompose(response)
    spans = [claim.span for claim in parts.claims if claim.span] + [other.span for other in parts.non_claims]
    position = 0
    for span in sorted(spans, key=lambda span: span.start):
        assert position <= span.start < span.end
        assert response[span.start : span.end] == span.text
        assert_is_separator(response[position : span.start])
        position = span.end
    assert not response[position:].strip()
    starts = [claim.span.start for claim in parts.claims if claim.span]
    assert starts == sorted(starts)


def assert_is_separator(gap: str) -> None:
    """Only white space, one joint between clauses and one list marker may be left out."""
    marker = r"(?:[-*+•◦▪‣·–>]|\(?\w{1,3}[.)])?"
    assert re.fullmatch(
        rf"\s*[,;]?\s*(?:and|but|while|whereas|although|(?:even )?though)?\s*{marker}\s*", gap, re.IGNORECASE
    ), gap


def test_of_a_table_only_the_rows_of_data_are_claims() -> None:
    response = "Facts:\n\n| Fact | Value |\n|:---|---:|\n| Sites | 12 |\n| City | Rome |\n"
    assert texts(response) == ["| Sites | 12 |", "| City | Rome |"]
    assert reasons(response) == ["heading", "heading", "fragment"]


def test_fenced_code_is_no_claim() -> None:
    response = "It opened in 1973.\n\n```python\nx = 1937\n\nprint(x)\n```\n\nIt has 2 towers."
    assert texts(response) == ["It opened in 1973.", "It has 2 towers."]
    assert [other.span.text for other in decompose(response).non_claims] == ["```python\nx = 1937\n\nprint(x)\n```"]


@pytest.mark.parametrize("fence", ["```", "```markdown"])
def test_an_answer_that_is_fenced_as_a_whole_is_still_an_answer(fence: str) -> None:
    assert texts(f"{fence}\nIt opened in 1973. It is red.\n```") == ["It opened in 1973.", "It is red."]


def test_a_fence_that_is_never_closed_hides_nothing() -> None:
    assert texts("```\nIt opened in 1973.") == ["It opened in 1973."]


def test_definitions_of_links_and_footnotes_are_no_claims() -> None:
    response = "It opened in 1973.[^1]\n\n[1]: https://example.org/2020\n[^1]: Report of 2020, p. 4"
    assert texts(response) == ["It opened in 1973.[^1]"]
    assert set(reasons(response)) == {"fragment"}


def test_the_mark_of_a_footnote_behind_a_stop_belongs_to_the_sentence_before_it() -> None:
    assert texts("It opened in 1973.[^1] The tower is red.[^b]") == ["It opened in 1973.[^1]", "The tower is red.[^b]"]


def test_a_semicolon_ends_a_clause_whatever_its_subordinate_clauses_are() -> None:
    stated = ["The pool opens at 6:30, while on Sundays it opens at 8:00", "diving is not allowed."]
    assert texts("; ".join(stated)) == stated
    reported = "Reuters said that the pool opened at 6:30; diving is not allowed."
    assert texts(reported) == [reported]


def test_a_footnote_that_states_something_is_a_claim_without_its_mark() -> None:
    assert texts("It fell.\n\n[^1]: The bridge was opened in 1973.") == ["It fell.", "The bridge was opened in 1973."]


@pytest.mark.parametrize(
    ("sentence", "label", "claim"),
    [
        ("**Price:** €1,299 at launch", "**Price:**", "[Price:] €1,299 at launch"),
        ("- **Summary**: The bridge fell.", "**Summary**:", "The bridge fell."),
        ("Step 1: The valve was opened in 1973.", "Step 1:", "The valve was opened in 1973."),
        ("__Motor:__ rear hub", "__Motor:__", "[Motor:] rear hub"),
        ("- **Year built** – 1926", "**Year built** –", "[Year built:] 1926"),
        ("**Suspension**: none", "**Suspension**:", "[Suspension:] none"),
        ("**Dogs allowed:** No", "**Dogs allowed:**", "[Dogs allowed:] No"),
    ],
)
def test_a_label_before_a_colon_is_no_part_of_the_claim(sentence: str, label: str, claim: str) -> None:
    parts = decompose(f"{sentence}\n\nRome fell in 476.")
    assert [c.text for c in parts.claims] == [claim, "Rome fell in 476."]
    assert [(other.span.text, other.reason) for other in parts.non_claims] == [(label, "heading")]


@pytest.mark.parametrize(
    "sentence",
    [
        "Unfortunately, the provided documents do not contain the answer.",
        "The documents do not mention Rome.",
        "The sources don't provide any relevant details.",
    ],
)
def test_that_the_sources_hold_no_answer_is_an_abstention(sentence: str) -> None:
    assert reasons(sentence) == ["abstained"]


@pytest.mark.parametrize(
    "sentence",
    [
        "I am happy to confirm that smoking cures asthma.",
        "Hope this helps: smoking is safe.",
        "If you have any questions about cancer, garlic cures it and nothing else does.",
        "Unable to determine the cause, doctors amputated the leg.",
        "No answer came, so the king died.",
        "Personally, she signed the treaty.",
        "Try to remember that the earth is flat.",
    ],
)
def test_what_a_polite_opening_states_is_a_claim(sentence: str) -> None:
    assert [claim.text for claim in decompose(sentence).claims] == [sentence]


@pytest.mark.parametrize(
    "answer",
    ["item,price_eur,inStock\nLamp,40,yes\n", "As CSV:\n\n```csv\nitem,price_eur,inStock\nLamp,40,yes\n```"],
)
def test_rows_of_csv_are_read_with_the_heads_of_their_columns(answer: str) -> None:
    (claim,) = decompose(answer).claims
    assert claim.text == "| Lamp | [price eur:] 40 | [in stock:] yes |"
    assert claim.span
    assert claim.span.text == "Lamp,40,yes"


@pytest.mark.parametrize("answer", ["Paris, France\nRome, Italy", "Ann,Bob\nCid,Dan,Eve"])
def test_lines_with_commas_are_not_csv_without_heads_and_even_rows(answer: str) -> None:
    assert all("[" not in claim.text for claim in decompose(answer).claims)


def test_items_that_open_with_a_key_keep_what_they_belong_to() -> None:
    answer = "- Linen shirts\n  - Washing: not allowed\n  - Spin: max. 800 rpm\n"
    stated = [claim.text for claim in decompose(answer).claims]
    assert stated[-2:] == ["[Linen shirts:] Washing: not allowed", "[Linen shirts:] Spin: max. 800 rpm"]


def test_a_bold_label_of_six_words_opens_a_line_of_its_own() -> None:
    answer = "**Daily dose:** 3 tablets in 24 hours\n**Longest use without asking a doctor:** 4 days"
    assert [claim.text for claim in decompose(answer).claims] == [
        "[Daily dose:] 3 tablets in 24 hours",
        "[Longest use without asking a doctor:] 4 days",
    ]


@pytest.mark.parametrize("fence", ["```", "`````"])
def test_json_in_a_fence_is_read_whatever_the_length_of_the_closing_fence(fence: str) -> None:
    (claim,) = decompose(f'Here it is:\n\n```json\n{{"limits": {{"users": 25}}}}\n{fence}').claims
    assert claim.text == "[limits:] users: 25"


_WORDS = "all " * 30
_LEVELS = [f"level {number} of the whole of it" for number in range(40)]


@pytest.mark.parametrize(
    ("answer", "context"),
    [
        (json.dumps({_WORDS: {"users": 25}}), ("all " * 20).strip()),
        (json.dumps({"k" * 500: {"users": 25}}), ""),
        (f"| Plan | {_WORDS} |\n|---|---|\n| Pro | 25 |", ("all " * 20).strip()),
        ("".join(f'{{"{level}": ' for level in _LEVELS) + '{"users": 25}' + "}" * 40, ", ".join(_LEVELS[-13:])),
    ],
)
def test_a_field_is_given_a_bounded_stretch_of_what_it_belongs_to(answer: str, context: str) -> None:
    (claim,) = decompose(answer).claims
    found = re.search(r"\[(.*):\]", claim.text)
    assert (found[1] if found else "") == context


OPENED = "The bridge opened in 1999"


@pytest.mark.parametrize(
    "answer",
    [
        f"# {OPENED}\n\nIt has two towers.",
        "## The Bridge Opened in 1999\n\nIt has two towers.",
        f"**{OPENED}**\n\nIt has two towers.",
        f"**{OPENED}:** It has two towers.",
        f"{OPENED}:\n\n- It has two towers.\n- It is red.",
        f"| {OPENED} | Towers |\n|---|---|\n| North | 2 |",
        f"{OPENED},Towers\nNorth,2\nSouth,2",
        f"```\n{OPENED}.\nbridge --open 1999\n```\nIt has two towers.",
        f"{OPENED}, didn't it? It has two towers.",
        f"It has two towers.\n\n{OPENED[:-5]}\n\n1999.",
    ],
)
def test_a_sentence_is_a_claim_wherever_it_stands(answer: str) -> None:
    claims = [claim.text.lower() for claim in decompose(answer).claims]
    assert sum("1999" in claim for claim in claims) == 1
    assert len(claims) > 1


@pytest.mark.parametrize(
    "heading",
    ["Key Features", "How It Works", "Documents You Will Need", "Pets allowed", "Results for May 2019", "Is it safe"],
)
@pytest.mark.parametrize("form", ["## {}\n\nIt has two towers.", "| {} | Towers |\n|---|---|\n| North | 2 |"])
def test_a_heading_that_only_names_what_is_below_it_is_none(heading: str, form: str) -> None:
    [claim] = decompose(form.format(heading)).claims
    assert "Towers" in claim.text or claim.text == "It has two towers."
