"""The `cogni eval` command: how good retrieval is, and whether a change may go on."""

import asyncio
import os
import tempfile
from pathlib import Path
from typing import Annotated, NoReturn, TypeVar

import typer

from cogni_domain.ports.clock import ClockPort
from cogni_embedded.asking import read_first
from cogni_embedded.bootstrap import Product, build
from cogni_embedded.data_folder import DataFolder
from cogni_embedded.evaluation_sets import SETS, shared_set
from cogni_embedded.evaluation_targets import ProductTarget, indexed
from cogni_embedded.serving import Say
from cogni_embedded.terminal import complain, progress, say
from cogni_evaluation import (
    Blocked,
    CaseSet,
    Change,
    ChangeGate,
    ChangeKind,
    RetrievalReport,
    RetrievalSuite,
    read_cases,
    report_from_json,
    report_to_json,
)
from cogni_kernel import DefinitionError, Err, HumanText, NotFoundError, Ok, Result
from cogni_runtime.bindings import embedded, migrate

T = TypeVar("T")
SHOWN = 10

app = typer.Typer(no_args_is_help=True)


@app.callback()
def _measure() -> None:
    """Measure the product."""


@app.command()
def retrieval(
    cases: Annotated[
        str, typer.Option(help=f"A file of cases, one JSON object a line; or {' or '.join(SETS)}.")
    ] = SETS[0],
    data: Annotated[
        Path, typer.Option("--data", help="The data folder that a file's cases are asked of.")
    ] = Path(".cogni"),
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    against: Annotated[
        Path | None, typer.Option(help="A report of before: exit 1 where this one is worse.")
    ] = None,
) -> None:
    """Ask every case as its principal, and tell which documents came back.

    A shared collection is indexed anew, in a folder of its own that is gone afterwards.
    """
    before = None if against is None else _ok(report_from_json(_ok(_read(against))))
    with progress("Reading…") as show:
        if cases in SETS:
            report = _ok(asyncio.run(_of_shared_set(cases, show)))
        else:
            wanted = _ok(read_cases(cases, _ok(_read(Path(cases)))))
            report = _ok(asyncio.run(_of_product(wanted, DataFolder(data), show)))
    if as_json:
        typer.echo(report_to_json(report))
    else:
        _print(report)
    passed = report.is_passed and (before is None or _is_let_through(before, report))
    if not passed:
        raise typer.Exit(1)


async def _of_shared_set(name: str, show: Say) -> Result[RetrievalReport]:
    shared = shared_set(name, Path(os.environ.get("COGNI_SHARED", "../shared")))
    if isinstance(shared, Err):
        return shared
    with tempfile.TemporaryDirectory() as folder:
        migrated = migrate(Path(folder))
        if isinstance(migrated, Err):
            return migrated
        product = _built(Path(folder))
        clock = product.bindings.container.resolve(ClockPort)
        try:
            target = await indexed(product.retrieval, shared.value, clock, show)
            if isinstance(target, Err):
                return target
            show(f"{name}: asking {len(shared.value.cases.cases)} questions")
            return Ok(await RetrievalSuite().run(shared.value.cases.cases, target.value))
        finally:
            await product.bindings.close()


async def _of_product(cases: CaseSet, folder: DataFolder, show: Say) -> Result[RetrievalReport]:
    found = folder.find()
    held = found if isinstance(found, Err) else folder.try_to_hold()
    if isinstance(held, Err):
        return held
    product = _built(folder.path)
    try:
        with folder:
            return await _asked(cases, product, folder, show, held=held.value)
    finally:
        await product.bindings.close()


async def _asked(
    cases: CaseSet, product: Product, folder: DataFolder, show: Say, *, held: bool
) -> Result[RetrievalReport]:
    ready = await product.bindings.refuse_other_schema()
    if held and not isinstance(ready, Err):
        ready = await read_first(product, folder, show)
    if isinstance(ready, Err):
        return ready
    clock = product.bindings.container.resolve(ClockPort)
    warnings = cases.validate(clock.now().date())
    if isinstance(warnings, Err):
        return warnings
    target = await ProductTarget.of(product)
    if isinstance(target, Err):
        return target
    for warning in (*warnings.value, *_gone(cases, target.value)):
        complain(warning)
    return Ok(await RetrievalSuite().run(cases.cases, target.value))


def _gone(cases: CaseSet, target: ProductTarget) -> list[str]:
    """Return a line for each document that a case wants and that there is not."""
    there = {target.name_of(document) for document in target.known}
    return [
        f"{case.id} wants {document}, which there is not (any more)."
        for case in cases.cases
        for document in case.must_retrieve
        if document not in there
    ]


def _is_let_through(before: RetrievalReport, after: RetrievalReport) -> bool:
    """Say what the gate says."""
    verdict = _ok(ChangeGate().evaluate(Change(ChangeKind.CORPUS, before, after)))
    for line in verdict.comparison.objections:
        complain(f"Worse: {line}")
    complain("The gate says NO." if isinstance(verdict, Blocked) else "The gate says yes.")
    return not isinstance(verdict, Blocked)


def _print(report: RetrievalReport) -> None:
    say(f"{'':14}cases  recall@{report.k}  precision    MRR  nDCG@{report.k}  empty  variance")
    for stratum, f in report.per_stratum.items():
        say(
            f"{stratum.value:14}{f.cases:5}  {f.recall_at_k.mean:9.3f}  {f.precision_at_k.mean:9.3f}"
            f"  {f.mrr.mean:5.3f}  {f.ndcg.mean:7.3f}  {f.empty_rate.mean:5.2f}  {f.ndcg.variance:8.6f}"
        )
    for case, reason in list(report.unscored.items())[:SHOWN]:
        say(f"Not scored: {case}: {reason}")
    for case, document in report.scope_violations[:SHOWN]:
        say(f"DISCLOSED: {case} showed {document} to who may not read it.")
    say("passed" if report.is_passed else "FAILED: somebody saw what they may not read.")


def _built(folder: Path) -> Product:
    try:
        return build(embedded(folder, os.environ))
    except DefinitionError as error:
        _fail(error.message)


def _read(file: Path) -> Result[str]:
    try:
        return Ok(file.read_text("utf-8"))
    except (OSError, ValueError):
        message = f"{file} cannot be read. Name a file, or one of {', '.join(SETS)}."
        return Err(NotFoundError(HumanText(message)))


def _ok(result: Result[T]) -> T:
    if isinstance(result, Err):
        _fail(result.error.message)
    return result.value


def _fail(message: HumanText) -> NoReturn:
    complain(str(message))
    raise typer.Exit(1)
