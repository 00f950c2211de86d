"""OpenAI's responses, in any pieces and with any damage."""

import os

from cogni_adapters.openai.responses_events import ResponsesEvents
from cogni_domain.providers.translating import TranslatingParser
from cogni_engine import ChunkParser
from cogni_testing.contracts.answer_stream import AnswerStreamContract
from cogni_testing.providers import RESPONSES, Format


class TestResponsesStream(AnswerStreamContract):
    fuzzed_frames = int(os.environ.get("COGNI_FUZZED_FRAMES", "2000"))

    def make_parser(self) -> ChunkParser:
        return TranslatingParser(ResponsesEvents())

    def make_format(self) -> Format:
        return RESPONSES
