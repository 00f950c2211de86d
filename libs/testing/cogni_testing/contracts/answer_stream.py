"""What every reader of a provider's stream promises, whatever arrives."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from random import Random

from cogni_engine import ChunkParser, Message, Response, Role, ToolCall
from cogni_kernel import TaskClass, Usage
from cogni_testing.providers import (
    COMMENT,
    EmptyIds,
    ErrorEvent,
    Fault,
    Finish,
    Format,
    RepeatedUsage,
    SameIndex,
    ScriptedCall,
    Turn,
)
from cogni_testing.providers.mutations import mutated

FRAMES_A_STREAM = 20
_LETTERS = 'abc é休\U0001f469\u200d\U0001f52c\u2028\r\n"\\{}[]:,0<'
_FAULTS: tuple[Fault, ...] = (EmptyIds(), SameIndex(), RepeatedUsage(), COMMENT)


def scripted(chance: Random) -> Turn:
    """Return any turn: texts and calls in any fragments, any end, usage or none."""
    return Turn(
        text=_pieces(chance, _text(chance, 40)),
        calls=tuple(_call(chance, number) for number in range(chance.choice((0, 0, 1, 2, 5)))),
        finish=chance.choice((None, None, *Finish)),
        usage=chance.choice((None, (chance.randrange(10**6), chance.randrange(10**6)))),
        faults=tuple(chance.sample(_FAULTS, chance.randrange(3))),
    )


def cut(whole: bytes, chance: Random, places: int) -> list[bytes]:
    """Return bytes in pieces, cut anywhere."""
    edges = sorted(chance.randrange(len(whole) + 1) for _ in range(places))
    return [whole[a:b] for a, b in pairwise((0, *edges, len(whole)))]


class AnswerStreamContract(ABC):
    """The same answer for any fragmenting; nothing that arrives raises, and nobody but the model ever speaks.

    Attributes:
        seed: Where the scripts and the damage come from.
        fuzzed_frames: How many events are damaged; those around them are read too.
        scripts: How many scripts are cut.
    """

    seed = 20_260
    fuzzed_frames = 2_000
    scripts = 60

    @abstractmethod
    def make_parser(self) -> ChunkParser:
        """Return a new reader for one answer."""

    @abstractmethod
    def make_format(self) -> Format:
        """Return the format that it reads."""

    def stream(self, turn: Turn) -> list[bytes]:
        """Return the events of a turn."""
        return [frame.data for frame in self.make_format().events(turn)]

    def read(self, pieces: Iterable[bytes]) -> tuple[ChunkParser, str]:
        """Return the reader of a whole stream, and the text that it gave meanwhile."""
        parser = self.make_parser()
        said = "".join([*map(parser.feed, pieces), parser.finish()])
        return parser, said

    def test_any_fragmenting_of_any_script_gives_the_same_response(self) -> None:
        for number in range(self.scripts):
            chance = Random(self.seed + number)  # noqa: S311 - repeatable
            turn = scripted(chance)
            whole = b"".join(self.stream(turn))
            expected = outcome(*self.read([whole]))

            for pieces in (cut(whole, chance, 1), cut(whole, chance, 40), [*_single(whole)]):
                assert outcome(*self.read(pieces)) == expected, turn
            assert expected[:2] == ("".join(turn.text), "".join(turn.text)), turn
            assert [(c.name, c.arguments) for c in expected[2]] == [
                (call.name, call.arguments) for call in turn.calls
            ], turn

    def test_a_script_is_the_same_response_in_any_pieces_of_its_own(self) -> None:
        for number in range(self.scripts):
            chance = Random(self.seed - number)  # noqa: S311 - repeatable
            text, arguments = _text(chance, 60), _arguments(chance)
            answers = [
                outcome(*self.read(self.stream(self._turn(*pieces))))
                for pieces in (
                    ((text,), (arguments,)),
                    (_pieces(chance, text), _pieces(chance, arguments)),
                    (tuple(text), tuple(arguments)),
                )
            ]

            assert answers[0] == answers[1] == answers[2]

    def test_no_damage_raises_or_lets_another_speak(self) -> None:
        chance = Random(self.seed)  # noqa: S311 - repeatable
        read = 0
        while read < self.fuzzed_frames:
            turn = scripted(chance)
            if chance.random() < 0.1:
                turn = replace(turn, faults=(ErrorEvent(chance.randrange(4)),))
            frames = self.stream(turn)[:FRAMES_A_STREAM]
            damaged = mutated(frames, chance)
            whole = b"".join(damaged)

            parser, said = self.read(cut(whole, chance, 5))

            assert_sound(parser, said)
            assert outcome(*self.read([whole])) == outcome(parser, said)
            read += sum(a != b for a, b in zip(frames, damaged, strict=True))

    def _turn(self, text: Sequence[str], arguments: Sequence[str]) -> Turn:
        return Turn(tuple(text), (ScriptedCall("look_up", tuple(arguments), "call_a"),))


Outcome = tuple[str, str, tuple[ToolCall, ...], object, str, str | None, bool, bool]


def outcome(parser: ChunkParser, said: str) -> Outcome:
    """Return all that an answer is."""
    return (
        said,
        parser.text,
        parser.tool_calls,
        repr(parser.usage),  # NaN in a usage record is equal to nothing
        parser.model,
        parser.finish_reason,
        parser.is_whole,
        parser.is_doubtful,
    )


def assert_sound(parser: ChunkParser, said: str) -> None:
    """Check that an answer, however it came about, can be stored, sent and charged."""
    response = Response(parser.text, parser.tool_calls, parser.usage, parser.model)
    message = Message.assistant(response.text, response.tool_calls, response.model_used)
    ids = [call.id for call in response.tool_calls]
    usage = Usage.from_provider(response.raw_usage, TaskClass.CONVERSATIONAL)
    assert said == response.text
    assert message.role is Role.ASSISTANT
    assert len(set(ids)) == len(ids)
    assert all(call.id and call.name for call in response.tool_calls)
    assert usage.calls == 1
    for call in response.tool_calls:
        "".join((call.id, call.name, call.arguments)).encode()
    "".join((response.text, response.model_used, *parser.problems)).encode()


def _single(whole: bytes) -> Iterable[bytes]:
    return (whole[n : n + 1] for n in range(len(whole)))


def _text(chance: Random, most: int) -> str:
    return "".join(chance.choice(_LETTERS) for _ in range(chance.randrange(1, most)))


def _call(chance: Random, number: int) -> ScriptedCall:
    pieces = _pieces(chance, _arguments(chance)) if chance.random() < 0.9 else ()
    return ScriptedCall(f"tool_{number}", pieces, chance.choice(("", f"toolu_{number}")))


def _arguments(chance: Random) -> str:
    written: tuple[Callable[[], str], ...] = (
        lambda: '{"q": "' + chance.choice(("休暇", "é", "a")) * 5 + '"}',
        lambda: '{"n": NaN}',
        lambda: '{"n": 1',
        lambda: _text(chance, 20),
    )
    return chance.choice(written)()


def _pieces(chance: Random, text: str) -> tuple[str, ...]:
    edges = sorted(chance.randrange(len(text) + 1) for _ in range(chance.randrange(6)))
    cut_up = (text[a:b] for a, b in pairwise((0, *edges, len(text))))
    return tuple(piece for piece in cut_up if piece)
