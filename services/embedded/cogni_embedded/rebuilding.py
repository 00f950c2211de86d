"""The `cogni rebuild` command: a corpus's index made anew, judged on cases, and cut over."""

import asyncio
import os
from collections.abc import Coroutine
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, NoReturn, TypeVar

import typer

from cogni_application.rebuild.rebuild import (
    Approved,
    Blocked,
    Cutover,
    CutoverGate,
    Judgement,
)
from cogni_domain.knowledge.corpus import Corpus
from cogni_domain.knowledge.rebuild import Rebuild, RebuildState
from cogni_domain.ports.clock import ClockPort
from cogni_embedded.bootstrap import Product, build
from cogni_embedded.data_folder import DataFolder
from cogni_embedded.evaluation_targets import ProductTarget
from cogni_embedded.ingesting import Show, work_off
from cogni_embedded.sources import HOME
from cogni_embedded.terminal import complain, progress, say
from cogni_evaluation import (
    CaseSet,
    Change,
    ChangeGate,
    ChangeKind,
    Passed,
    RetrievalReport,
    RetrievalSuite,
    read_cases,
)
from cogni_kernel import (
    CorpusId,
    DefinitionError,
    Err,
    HumanText,
    NotFoundError,
    Ok,
    Result,
    UpstreamError,
)
from cogni_runtime.bindings import embedded

T = TypeVar("T")
LOOK_S = 0.3

NOT_FILLED = HumanText(
    "The new index was not filled to its end. Run the same command again: it goes on where it stopped."
)
UNJUDGED = "The new index is full. Name --cases that judge it, or --unjudged, to let it serve."


@dataclass(frozen=True, slots=True)
class FrozenSlice(CutoverGate):
    """Asks the same cases of both indexes, and lets the evaluation's gate say yes or NO."""

    product: Product
    cases: CaseSet

    async def judge(self, before: Corpus, after: Corpus) -> Result[Judgement]:
        today = self.product.bindings.container.resolve(ClockPort).now().date()
        usable = self.cases.validate(today)
        if isinstance(usable, Err):
            return usable
        found = [await self._asked(index) for index in (before, after)]
        for each in found:
            if isinstance(each, Err):
                return each
        former, new = (each.value for each in found if isinstance(each, Ok))
        verdict = ChangeGate().evaluate(Change(ChangeKind.EMBEDDING, former, new))
        if isinstance(verdict, Err):
            return verdict
        if len(new.unscored) == len(self.cases.cases):
            return Ok(Blocked(("none of the cases could be asked of the new index",)))
        passed = isinstance(verdict.value, Passed)
        return Ok(Approved() if passed else Blocked(verdict.value.comparison.objections))

    async def _asked(self, index: Corpus) -> Result[RetrievalReport]:
        """Ask every case, of this corpus alone: another one may wait for its own rebuild."""
        retrieval = replace(self.product.retrieval, in_place=(index,))
        target = await ProductTarget.of(replace(self.product, retrieval=retrieval))
        if isinstance(target, Err):
            return target
        mine = {id_: d for id_, d in target.value.known.items() if d.corpus_id == index.id}
        return Ok(await RetrievalSuite().run(self.cases.cases, replace(target.value, known=mine)))


class _Unjudged(CutoverGate):
    """Somebody said that nothing is to be asked."""

    async def judge(self, before: Corpus, after: Corpus) -> Result[Judgement]:  # noqa: ARG002 - the gate's words
        return Ok(Approved())


def rebuild(
    corpus: Annotated[str, typer.Argument(help="The corpus whose index is made anew.")],
    data: Annotated[Path, typer.Option("--data", help="The data folder.")] = Path(".cogni"),
    cases: Annotated[
        Path | None, typer.Option(help="Cases that judge the new index, one JSON object a line.")
    ] = None,
    unjudged: Annotated[
        bool, typer.Option("--unjudged", help="Let it serve though no case judges it.")
    ] = False,
    back: Annotated[bool, typer.Option("--back", help="Let the former index serve again.")] = False,
) -> None:
    """Make a corpus's index anew while the old one serves, and cut over where it is as good.

    Whatever ends it, the same command goes on where it stopped. The former index is kept, and written, until
    the next rebuild.
    """
    if (cases is not None) + unjudged + back > 1:
        _fail(HumanText("Name one of --cases, --unjudged and --back."))
    folder, place = DataFolder(data), CorpusId(corpus)
    _ok(folder.find())
    with folder:
        _ok(folder.try_to_hold())
        product = _built(folder.path)
        if back:
            taken_back = _ok(asyncio.run(_closing(product, _back(product, place))))
            say(f"{corpus} is served by index {taken_back.previous} again.")
            return
        gate: CutoverGate | None = _Unjudged() if unjudged else None
        if cases is not None:
            gate = FrozenSlice(product, _ok(read_cases(str(cases), _ok(_read(cases)))))
        with progress("Making the index anew…") as show:
            made = _made(product, place, folder, gate, show)
            ended = _ok(asyncio.run(_closing(product, made)))
    _tell(corpus, ended)


def _tell(corpus: str, ended: Rebuild | Cutover | Blocked) -> None:
    if isinstance(ended, Blocked):
        for line in ended.comparison:
            complain(f"Worse: {line}")
        complain("The gate says NO: the former index serves on.")
        raise typer.Exit(1)
    if isinstance(ended, Cutover):
        say(f"{corpus} is served by index {ended.rebuild.generation}.")
        say(f"The former one is kept until the next rebuild: cogni rebuild {corpus} --back")
        return
    say(UNJUDGED)


async def _closing(product: Product, work: Coroutine[object, object, Result[T]]) -> Result[T]:
    """Do work where the schema is ours, and let go of everything."""
    try:
        ready = await product.bindings.refuse_other_schema()
        if isinstance(ready, Err):
            work.close()
            return ready
        return await work
    finally:
        await product.bindings.close()


async def _back(product: Product, corpus: CorpusId) -> Result[Rebuild]:
    return await product.rebuilds.roll_back(HOME, corpus)


async def _made(
    product: Product,
    corpus: CorpusId,
    folder: DataFolder,
    gate: CutoverGate | None,
    show: Show,
) -> Result[Rebuild | Cutover | Blocked]:
    begun = await product.rebuilds.rebuild(HOME, corpus)
    if isinstance(begun, Err):
        return begun
    looking = asyncio.create_task(_look_on(product, corpus, show))
    done = await work_off(product, folder, lambda _: None)
    looking.cancel()
    if isinstance(done, Err):
        return done
    full = await product.rebuilds.under_way(HOME, corpus)
    if isinstance(full, Err):
        return full
    if full.value.state is not RebuildState.READY:
        return Err(product.watch.error or UpstreamError(NOT_FILLED))
    return full if gate is None else await product.rebuilds.cut_over(HOME, corpus, gate)


async def _look_on(product: Product, corpus: CorpusId, show: Show) -> None:
    clock = product.bindings.container.resolve(ClockPort)
    while True:
        found = await product.rebuilds.under_way(HOME, corpus)
        if isinstance(found, Ok):
            now = clock.now()
            end = found.value.projected_end(now)
            left = f", about {(end - now).total_seconds():.0f} s to go" if end else ""
            show(f"{found.value.done} of {found.value.total} documents{left}")
        await asyncio.sleep(LOOK_S)


def _built(folder: Path) -> Product:
    try:
        return build(embedded(folder, os.environ))
    except DefinitionError as error:
        _fail(error.message)


def _read(file: Path) -> Result[str]:
    try:
        return Ok(file.read_text("utf-8"))
    except (OSError, ValueError):
        return Err(NotFoundError(HumanText(f"{file} cannot be read. Name a file of cases.")))


def _ok(result: Result[T]) -> T:
    if isinstance(result, Err):
        _fail(result.error.message)
    return result.value


def _fail(message: HumanText) -> NoReturn:
    complain(str(message))
    raise typer.Exit(1)
