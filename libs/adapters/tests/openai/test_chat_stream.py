"""The stream of chat completions, in any pieces and with any damage."""

import os

from cogni_engine import ChunkParser
from cogni_testing.contracts.answer_stream import AnswerStreamContract
from cogni_testing.providers import CHAT, Format


class TestChatStream(AnswerStreamContract):
    fuzzed_frames = int(os.environ.get("COGNI_FUZZED_FRAMES", "2000"))

    def make_parser(self) -> ChunkParser:
        return ChunkParser()

    def make_format(self) -> Format:
        return CHAT
