"""The gap list over HTTP."""

from collections.abc import Sequence
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from cogni_application.gaps import CorpusGaps, GapService
from cogni_domain.access.principal import Principal
from cogni_domain.knowledge.source import Gap
from cogni_edge.answering import Answering
from cogni_edge.requests import MAX_FIELD
from cogni_edge.views import json_response
from cogni_kernel import CorpusId, Err, HumanText, InvalidArgumentError, Result

WRONG_CORPUS = HumanText(f"A corpus has an id of 1 to {MAX_FIELD} characters.")


@dataclass(frozen=True, slots=True)
class GapRoutes:
    """The handler. Whoever may not see the list is told the same as where there is nothing."""

    service: GapService
    answering: Answering

    def routes(self) -> list[BaseRoute]:
        """Return where it is."""
        return [Route("/v1/gaps", self.get_all, methods=["GET"])]

    async def get_all(self, request: Request) -> Response:
        """List what was not indexed, and why."""

        async def listed(principal: Principal) -> Result[Sequence[CorpusGaps]]:
            named = request.query_params.get("corpus")
            if named is not None and not 1 <= len(named) <= MAX_FIELD:
                return Err(InvalidArgumentError(WRONG_CORPUS, detail={"field": "corpus"}))
            return await self.service.listed(principal, None if named is None else CorpusId(named))

        return await self.answering.answer(
            request,
            listed,
            lambda found: json_response({"corpora": [corpus_gaps_view(each) for each in found]}),
        )


def corpus_gaps_view(found: CorpusGaps) -> dict[str, object]:
    """Return what an administrator sees of a corpus's gap list."""
    through = found.corpus.indexed_through
    return {
        "corpus_id": str(found.corpus.id),
        "name": found.corpus.name,
        "indexed_through": through.isoformat() if through else None,
        "total": found.total,
        "gaps": [_gap_view(gap) for gap in found.gaps],
    }


def _gap_view(gap: Gap) -> dict[str, object]:
    return {
        "source_id": gap.source_id,
        "name": gap.name,
        "reason": gap.reason,
        "explanation": gap.explanation,
        "seen_at": gap.seen_at.isoformat(),
    }
