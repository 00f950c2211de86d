import pytest

from cogni_domain.ports.clock import ClockPort
from cogni_domain.ports.embedder import EmbedderPort
from cogni_domain.ports.keyword_search import KeywordSearchPort
from cogni_domain.ports.reranker import RerankerPort
from cogni_domain.ports.vector_store import VectorStorePort
from cogni_kernel import DefinitionError, TenantId
from cogni_runtime.container import Container, RequiresRebuild, Swapped
from cogni_testing import FrozenClock, HashEmbedder, LexicalReranker

ACME, GLOBEX = TenantId("acme"), TenantId("globex")


def test_what_is_bound_for_the_platform_serves_every_tenant() -> None:
    container, clock = Container(), FrozenClock()
    container.bind(ClockPort, clock)

    assert container.resolve(ClockPort) is clock
    assert container.resolve(ClockPort, ACME) is clock


def test_the_binding_of_a_tenant_goes_first_for_it_alone() -> None:
    container, ours, theirs = Container(), FrozenClock(), FrozenClock()
    container.bind(ClockPort, ours)
    container.bind(ClockPort, theirs, ACME)

    assert container.resolve(ClockPort, ACME) is theirs
    assert container.resolve(ClockPort, GLOBEX) is ours
    assert container.resolve(ClockPort) is ours


def test_the_binding_of_a_tenant_serves_nobody_else() -> None:
    container = Container()
    container.bind(ClockPort, FrozenClock(), ACME)

    for tenant in (None, GLOBEX):
        with pytest.raises(DefinitionError, match="no adapter is bound to ClockPort"):
            container.resolve(ClockPort, tenant)


@pytest.mark.parametrize("tenant", [None, ACME])
def test_a_second_binding_at_one_place_is_refused(tenant: TenantId | None) -> None:
    container = Container()
    container.bind(ClockPort, FrozenClock(), tenant)

    with pytest.raises(DefinitionError, match="ClockPort is bound already"):
        container.bind(ClockPort, FrozenClock(), tenant)


def test_another_adapter_can_be_swapped_in() -> None:
    container, later = Container(), FrozenClock()
    container.bind(ClockPort, FrozenClock())

    assert container.swap(ClockPort, later) == Swapped()
    assert container.resolve(ClockPort) is later


def test_without_an_index_the_embedder_can_be_swapped() -> None:
    container, wider = Container(), HashEmbedder(1024)
    container.bind(EmbedderPort, HashEmbedder())

    assert container.swap(EmbedderPort, wider) == Swapped()
    assert container.resolve(EmbedderPort) is wider


def test_with_an_index_the_embedder_cannot_be_swapped() -> None:
    container, embedder = Container(), HashEmbedder()
    container.bind(EmbedderPort, embedder)
    container.note_index(ACME)

    for tenant in (ACME, None):
        outcome = container.swap(EmbedderPort, HashEmbedder(1024), tenant)
        assert isinstance(outcome, RequiresRebuild)
        assert "Rebuild" in outcome.procedure
    assert container.resolve(EmbedderPort, ACME) is embedder


def test_with_an_index_the_vector_store_cannot_be_swapped() -> None:
    container = Container()
    store: VectorStorePort = object()  # type: ignore[assignment]
    container.bind(VectorStorePort, store)
    container.note_index(ACME)

    assert isinstance(container.swap(VectorStorePort, object()), RequiresRebuild)
    assert container.resolve(VectorStorePort) is store


def test_the_index_of_one_tenant_does_not_bind_another() -> None:
    container = Container()
    container.bind(EmbedderPort, HashEmbedder())
    container.note_index(ACME)

    assert container.swap(EmbedderPort, HashEmbedder(1024), GLOBEX) == Swapped()


def test_an_index_depends_on_nothing_else() -> None:
    container = Container()
    container.bind(RerankerPort, LexicalReranker())
    container.note_index(ACME)

    assert container.swap(RerankerPort, LexicalReranker()) == Swapped()


def test_every_missing_binding_is_named_at_the_start() -> None:
    container = Container()
    container.bind(ClockPort, FrozenClock())
    container.bind(EmbedderPort, HashEmbedder(), ACME)

    with pytest.raises(DefinitionError, match=r"bound to EmbedderPort, KeywordSearchPort$"):
        container.validate((ClockPort, EmbedderPort, KeywordSearchPort))


def test_what_is_whole_is_valid() -> None:
    container = Container()
    container.bind(ClockPort, FrozenClock())

    container.validate((ClockPort,))
