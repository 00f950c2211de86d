"""The `cogni` command."""

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.progress import Progress as Bar
from rich.progress import SpinnerColumn, TextColumn

from cogni_application.indexing.ingest import Progress
from cogni_domain.access.principal import Principal
from cogni_domain.jobs import Lane
from cogni_domain.ports.clock import ClockPort
from cogni_domain.ports.directory import DirectoryPort
from cogni_embedded.asking import ask_here, ask_there, source_lines
from cogni_embedded.bootstrap import Product, build
from cogni_embedded.data_folder import DataFolder
from cogni_embedded.demo import key_id
from cogni_embedded.doctor import examine
from cogni_embedded.serving import prepare, serve
from cogni_embedded.sources import FolderSource, request_folder
from cogni_engine import Delta, PhaseDelta, TokenDelta
from cogni_kernel import DefinitionError, Err, HumanText, Result
from cogni_runtime.bindings import demo_token
from cogni_runtime.bindings import migrate as run_migrations

TOKEN_LIFETIME = timedelta(hours=8)

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
    typer.echo(_ok(asyncio.run(_token(product, as_))))


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

    folder = DataFolder(data)
    free = folder.hold()
    product = _built(folder)

    async def answer() -> Result[Mapping[str, object]]:
        checked = await product.bindings.refuse_other_schema()
        if isinstance(checked, Err):
            return checked
        if not isinstance(free, Err):
            planted = await product.seed.plant(product.demo)
            principal = planted if isinstance(planted, Err) else await _principal(product, person)
            if isinstance(principal, Err):
                return principal
            return await ask_here(product, principal.value, question, show)
        holder = folder.holder()
        if holder is None:
            return free
        signed = await _token(product, person)
        await product.bindings.close()
        if isinstance(signed, Err):
            return signed
        return await ask_there(holder, signed.value, question, show)

    try:
        return asyncio.run(answer())
    finally:
        folder.release()


async def _principal(product: Product, person: str) -> Result[Principal]:
    tenant = _tenant_of(product, person)
    known = product.demo.people.person(person)
    return await product.resolver.current(tenant, known.account.id)


async def _token(product: Product, person: str) -> Result[str]:
    from cogni_kernel import NotFoundError, Ok

    tenant = _tenant_of(product, person)
    container = product.bindings.container
    issuer = await container.resolve(DirectoryPort).issuer(key_id(tenant))
    if isinstance(issuer, Err):
        return issuer
    if issuer.value is None:
        return Err(
            NotFoundError(HumanText("The demo company is not there yet. Start it: make run."))
        )
    clock = container.resolve(ClockPort)
    return Ok(demo_token(issuer.value, person, clock, TOKEN_LIFETIME))


def _tenant_of(product: Product, person: str):  # type: ignore[no-untyped-def]
    try:
        return product.demo.people.person(person).account.tenant_id
    except ValueError as error:
        _fail(HumanText(str(error)))


def _ok(result):  # type: ignore[no-untyped-def]
    if isinstance(result, Err):
        _fail(result.error.message)
    return result.value


def _fail(message: HumanText) -> NoReturn:
    err.print(str(message), markup=False)
    raise typer.Exit(1)
