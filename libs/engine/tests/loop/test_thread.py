from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from cogni_engine import Message, Origin, PassagePart, Role, TextPart, Thread, ToolCall
from cogni_engine.thread import TRIMMED
from cogni_kernel import HumanText, ModelFacingText, TokenCount

words = st.integers(1, 300).map(lambda n: "word " * n)
limits = st.integers(1, 2_000).map(TokenCount)


def user(text: str, origin: Origin) -> Message:
    return Message.user(HumanText(text), origin)


def exchange(call_ids: Sequence[str], texts: Sequence[str]) -> list[Message]:
    """Return a call message and its answers."""
    calls = tuple(ToolCall(name, "search", "{}") for name in call_ids)
    answers = zip(call_ids, texts, strict=True)
    return [
        Message.assistant("", calls),
        *(Message.tool(ModelFacingText(text), name) for name, text in answers),
    ]


@st.composite
def exchanges(draw: st.DrawFn, prefix: str) -> list[Message]:
    texts = draw(st.lists(words, min_size=1, max_size=3))
    return exchange([f"{prefix}-{n}" for n in range(len(texts))], texts)


@st.composite
def past_turns(draw: st.DrawFn) -> list[Message]:
    messages: list[Message] = []
    for n in range(draw(st.integers(0, 3))):
        messages.append(user(draw(words), Origin.HISTORY))
        for k in range(draw(st.integers(0, 2))):
            messages.extend(draw(exchanges(f"h{n}-{k}")))
        messages.append(Message.assistant(draw(words)))
    return [m.as_history() for m in messages]


@st.composite
def threads(draw: st.DrawFn) -> Thread:
    """Instructions, past turns, subject detail, passages, the question, then calls and answers."""
    messages = [Message.system(ModelFacingText(draw(words)))]
    messages += draw(past_turns())
    messages += [user(draw(words), Origin.SUBJECT) for _ in range(draw(st.integers(0, 2)))]
    passages = (PassagePart("s1", "A page", draw(words)),)
    messages.append(Message.user(passages, Origin.PASSAGES))
    messages.append(user(draw(words), Origin.QUESTION))
    for n in range(draw(st.integers(0, 3))):
        messages.extend(draw(exchanges(f"t{n}")))
    return Thread(tuple(messages))


def of(thread: Thread, *origins: Origin) -> list[Message]:
    return [m for m in thread.messages if m.origin in origins]


def emptied(thread: Thread) -> int:
    return sum(m.text == TRIMMED for m in thread.messages)


def newest_observations(thread: Thread) -> list[Message]:
    calling = [i for i, m in enumerate(thread.messages) if m.tool_calls]
    return list(thread.messages[calling[-1] :]) if calling else []


@given(threads(), limits)
def test_what_the_answer_rests_on_is_never_dropped(thread: Thread, limit: TokenCount) -> None:
    trimmed = thread.trim_to(limit)
    kept = (Origin.INSTRUCTION, Origin.PASSAGES, Origin.QUESTION)

    assert of(trimmed, *kept) == of(thread, *kept)
    newest = [m for m in newest_observations(thread) if m.origin is Origin.TURN]
    assert list(trimmed.messages[len(trimmed.messages) - len(newest) :]) == newest


@given(threads(), limits)
def test_a_call_and_its_answers_go_or_stay_together(thread: Thread, limit: TokenCount) -> None:
    trimmed = thread.trim_to(limit)

    asked = [c.id for m in trimmed.messages for c in m.tool_calls]
    assert [m.tool_call_id for m in trimmed.tool_messages()] == asked


@given(threads(), limits)
def test_the_more_expendable_goes_first(thread: Thread, limit: TokenCount) -> None:
    trimmed = thread.trim_to(limit)
    some_emptied = emptied(trimmed) > 0
    subject_gone = of(trimmed, Origin.SUBJECT) != of(thread, Origin.SUBJECT)

    if some_emptied or subject_gone:
        assert of(trimmed, Origin.HISTORY) == []
    if subject_gone:
        assert trimmed.token_estimate() <= limit or of(trimmed, Origin.SUBJECT) == []
        older = trimmed.messages[: -len(newest_observations(trimmed)) or None]
        assert all(len(m.text) <= 400 for m in older if m.role is Role.TOOL)


@given(threads(), limits)
def test_history_goes_from_its_oldest_turn_on(thread: Thread, limit: TokenCount) -> None:
    before, after = of(thread, Origin.HISTORY), of(thread.trim_to(limit), Origin.HISTORY)

    assert before[len(before) - len(after) :] == after
    assert not after or after[0].role is Role.USER


@given(threads(), limits)
def test_no_more_is_given_up_than_needed(thread: Thread, limit: TokenCount) -> None:
    trimmed = thread.trim_to(limit)

    assert trimmed.token_estimate() <= thread.token_estimate()
    assert trimmed.trim_to(limit) == trimmed
    assert (trimmed == thread) or thread.token_estimate() > limit


@given(threads(), limits, limits)
def test_a_lower_limit_never_keeps_more(thread: Thread, one: TokenCount, other: TokenCount) -> None:
    low, high = sorted((one, other))

    assert thread.trim_to(low).token_estimate() <= thread.trim_to(high).token_estimate()
    assert thread.trim_to(high).trim_to(low) == thread.trim_to(low)


def test_everything_expendable_goes_when_nothing_fits() -> None:
    long = "word " * 200
    thread = Thread(
        (
            Message.system(ModelFacingText("Be brief.")),
            user(long, Origin.HISTORY),
            user(long, Origin.SUBJECT),
            user("Why?", Origin.QUESTION),
            *exchange(["c1"], [long]),
            *exchange(["c2", "c3"], [long, "[[CHART:c1]] A chart."]),
        )
    )

    trimmed = thread.trim_to(TokenCount(1))

    assert [m.text for m in trimmed.messages] == [
        "Be brief.",
        "Why?",
        "",
        TRIMMED,
        "",
        long,
        "[[CHART:c1]] A chart.",
    ]


def test_an_older_marker_is_kept_for_the_answer() -> None:
    marker = "[[CHART:c1]] A bar chart. Put the marker where it belongs in your answer."
    thread = Thread((*exchange(["c1"], [marker]), *exchange(["c2"], ["x"])))

    assert thread.trim_to(TokenCount(1)) == thread


def test_history_without_a_question_goes_in_one_piece() -> None:
    history = [m.as_history() for m in exchange(["c1", "c2"], ["word " * 50] * 2)]

    assert Thread(tuple(history)).trim_to(TokenCount(30)) == Thread()


def test_a_thread_is_a_value_that_grows_by_new_ones() -> None:
    first = Message.user(HumanText("One?"))
    second = Message.assistant("Two.")
    thread = Thread()

    grown = thread.add(first).extended([second])

    assert thread.last() is None
    assert grown == Thread((first, second))
    assert grown.last() is second
    assert grown.token_estimate() == first.tokens + second.tokens


def test_the_evidence_is_what_tools_answered() -> None:
    messages = exchange(["c1", "c2"], ["a", "b"])

    assert Thread(tuple(messages)).tool_messages() == tuple(messages[1:])


def test_parts_count_as_the_text_they_become() -> None:
    parts = Message.user((TextPart("word " * 100),))

    assert parts.tokens == user("word " * 100, Origin.QUESTION).tokens


def test_a_thread_of_four_thousand_messages_is_trimmed_to_its_newest_turns() -> None:
    past = [
        message.as_history()
        for n in range(2_000)
        for message in (user(f"Question {n}?", Origin.QUESTION), Message.assistant("word " * 50))
    ]
    question = user("And now?", Origin.QUESTION)
    thread = Thread((*past, question))

    trimmed = thread.trim_to(TokenCount(1_000))

    assert trimmed.token_estimate() <= 1_000
    assert trimmed.messages == (*past[-len(trimmed.messages) + 1 :], question)
    assert len(trimmed.messages) > 20
