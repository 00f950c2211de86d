"""The `cogni` command."""

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, NoReturn, TypeVar

import typer
from rich.console import Console
from rich.progress import Progress as Bar
from rich.progress import SpinnerColumn, TextColumn

from cogni_application.indexing.ingest import Progress
from cogni_domain.access.directory import Account
from cogni_domain.jobs import Lane
from cogni_embedded.asking import answer, source_lines, token_of
from cogni_embedded.bootstrap import Product, build
from cogni_embedded.data_folder import DataFolder
from cogni_embedded.doctor import examine
from cogni_embedded.serving import prepare, serve
from cogni_embedded.sources import FolderSource, request_folder
from cogni_engine import Delta, PhaseDelta, TokenDelta
from cogni_kernel import DefinitionError, Err, HumanText, Result
from cogni_runtime.bindings import migrate as run_migrations

T = TypeVar("T")

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
out = Console(highlight=False)
err = Console(stderr=True, highlight=False)

Data = Annotated[Path, typer.Option("--data", help="The data folder.")]
As = Annotated[str, typer.Option("--as", help="Who asks: a principal of the demo company.")]
DATA = Path(".cogni")


@app.command()
def run(
    data: Data = DATA,
    host: Annotated[str, typer.Option(help="Listen here.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Listen on this port.")] = 8080,
    folder: Annotated[
        list[Path] | None, typer.Option(help="A folder to answer from; may be repeated.")
    ] = None,
) -> None:
    """Start the product on its demo company, and on folders you name."""
    with _held(data) as held:
        product = _built(held)
        folders = [FolderSource(path.resolve(), path.resolve().name) for path in folder or []]
        _ok(asyncio.run(_checked(product)))
        _ok(asyncio.run(prepare(product, folders)))
        out.print(f"COGNI.BUILD answers at http://{host}:{port}")
        out.print(
            f'Ask:    .venv/bin/cogni ask "How much parental leave do I get?" --as engineer --data {data}'
        )
        out.print(f"Token:  .venv/bin/cogni token --as engineer --data {data}")
        serve(product, held, host, port)


@app.command()
def migrate(data: Data = DATA) -> None:
    """Bring the data folder's database to this version's schema."""
    with _held(data):
        out.print(f"The database in {data} is at revision {_ok(run_migrations(data))}.")


@app.command()
def ingest(
    path: Annotated[Path, typer.Argument(help="A file or folder to read.")],
    corpus: Annotated[str, typer.Option(help="The corpus that it feeds.")],
    data: Data = DATA,
    readers: Annotated[
        str, typer.Option(help="Who may read it, like g:directory/hr,u:engineer.")
    ] = "everyone",
    posix: Annotated[bool, typer.Option("--posix", help="Map each file's mode instead.")] = False,
) -> None:
    """Read a folder into a corpus."""
    tokens = tuple(t.strip() for t in readers.split(",") if t.strip())
    source = FolderSource(path.resolve(), corpus, None if posix else tokens)
    with _held(data) as held:
        product = _built(held)
        _ok(asyncio.run(_ingest(product, source)))


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="What you want to know.")],
    as_: As,
    data: Data = DATA,
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON.")] = False,
) -> None:
    """Ask a question as somebody of the demo company."""
    outcome = _ok(_ask(question, as_, data, quiet=as_json))
    if as_json:
        typer.echo(json.dumps(outcome, ensure_ascii=False))
        return
    typer.echo("")
    for line in source_lines(outcome):
        out.print(line, style="dim", markup=False)
    out.print(str(outcome["generated_label"]), style="dim", markup=False)


@app.command()
def token(as_: As, data: Data = DATA) -> None:
    """Print a host token of the demo company, good on this machine for eight hours."""
    product = _built(DataFolder(data))
    typer.echo(_ok(asyncio.run(token_of(product, _account(product, as_)))))


@app.command()
def doctor(data: Data = DATA) -> None:
    """Tell what is bound, reachable and missing, and what to do."""
    findings = asyncio.run(examine(DataFolder(data), os.environ))
    for finding in findings:
        mark = "[green]ok[/]     " if finding.is_well else "[red]problem[/]"
        out.print(f"{mark} {finding.part}: ", end="")
        out.print(finding.found, markup=False)
        if finding.advice:
            out.print(f"        {finding.advice}", markup=False)
    if not all(finding.is_well for finding in findings):
        raise typer.Exit(1)


def main() -> None:
    """Run the command."""
    app()


def _held(data: Path) -> DataFolder:
    folder = DataFolder(data)
    _ok(folder.hold())
    return folder


def _built(folder: DataFolder) -> Product:
    try:
        return build(folder.path, os.environ)
    except DefinitionError as error:
        _fail(error.message)


async def _checked(product: Product) -> Result[None]:
    return await product.bindings.refuse_other_schema()


async def _ingest(product: Product, source: FolderSource) -> Result[object]:
    checked = await product.bindings.refuse_other_schema()
    if isinstance(checked, Err):
        return checked
    planted = await product.seed.plant(product.demo)
    if isinstance(planted, Err):
        return planted
    asked = await request_folder(product.indexing, product.seed, source)
    if isinstance(asked, Err):
        return asked
    with Bar(SpinnerColumn(), TextColumn("{task.description}"), console=err) as bar:
        line = bar.add_task("Reading…")
        product.watch.listener = lambda p: bar.update(line, description=_progress(p))
        await product.lanes[Lane.INDEXING].work_off()
    out.print(_progress(product.watch.progress))
    await product.bindings.close()
    return asked


def _progress(progress: Progress) -> str:
    return (
        f"{progress.seen} documents: {progress.indexed} indexed, {progress.unchanged} unchanged, "
        f"{progress.skipped} on the gap list"
    )


def _ask(question: str, person: str, data: Path, *, quiet: bool) -> Result[Mapping[str, object]]:
    def show(delta: Delta) -> None:
        if isinstance(delta, TokenDelta) and not quiet:
            sys.stdout.write(delta.text)
            sys.stdout.flush()
        if isinstance(delta, PhaseDelta) and not quiet:
            err.print(f"{delta.detail}…", style="dim", markup=False)

    with DataFolder(data) as folder:
        free = folder.hold()
        product = _built(folder)
        account = _account(product, person)
        return asyncio.run(answer(product, account, question, show, folder.holder(), free))


def _account(product: Product, person: str) -> Account:
    try:
        return product.demo.people.person(person).account
    except ValueError as error:
        _fail(HumanText(str(error)))


def _ok(result: Result[T]) -> T:
    if isinstance(result, Err):
        _fail(result.error.message)
    return result.value


def _fail(message: HumanText) -> NoReturn:
    err.print(str(message), markup=False)
    raise typer.Exit(1)
