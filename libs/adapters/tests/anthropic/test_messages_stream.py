"""Anthropic's messages, in any pieces and with any damage."""

import os

from cogni_adapters.anthropic.events import MessagesEvents
from cogni_domain.providers.translating import TranslatingParser
from cogni_engine import ChunkParser
from cogni_testing.contracts.answer_stream import AnswerStreamContract
from cogni_testing.providers import MESSAGES, Format


class TestMessagesStream(AnswerStreamContract):
    fuzzed_frames = int(os.environ.get("COGNI_FUZZED_FRAMES", "2000"))

    def make_parser(self) -> ChunkParser:
        return TranslatingParser(MessagesEvents())

    def make_format(self) -> Format:
        return MESSAGES
