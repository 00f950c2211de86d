"""The `cogni` command."""

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, NoReturn, TypeVar

import typer

from cogni_application.gaps import CorpusGaps
from cogni_domain.access.directory import Account
from cogni_domain.knowledge.source import Gap
from cogni_edge.server import listen
from cogni_embedded import gap_list
from cogni_embedded.asking import (
    answer_here,
    answer_there,
    proposal_lines,
    read_first,
    source_lines,
    token_of,
)
from cogni_embedded.bootstrap import Product, build
from cogni_embedded.chatting import TerminalChat, connected
from cogni_embedded.data_folder import DataFolder
from cogni_embedded.doctor import examine
from cogni_embedded.evaluating import app as evaluation
from cogni_embedded.ingesting import Show, gap_line
from cogni_embedded.ingesting import gaps as gaps_of
from cogni_embedded.ingesting import ingest as read_into_corpus
from cogni_embedded.rebuilding import rebuild
from cogni_embedded.serving import address_of, prepare, serve
from cogni_embedded.sources import FolderSource, reader_tokens
from cogni_embedded.terminal import complain, progress, say, say_on, tolerate_any_text
from cogni_engine import Delta, PhaseDelta, TokenDelta
from cogni_kernel import DefinitionError, Err, HumanText, Outcome, Result, encodable
from cogni_runtime.bindings import embedded
from cogni_runtime.bindings import migrate as run_migrations
from cogni_surfaces import TerminalSurface, json_line, language_of

T = TypeVar("T")
SHOWN_GAPS = 10

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
app.add_typer(evaluation, name="eval")
app.command()(rebuild)

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
    folders = [FolderSource(path, path.name) for path in map(_resolved, folder or [])]
    with _held(data, new=True) as held, _ok(listen(host, port)) as listening:
        product = _built(held)
        _ok(asyncio.run(_checked(product)))
        _ok(asyncio.run(prepare(product, folders, port + 1)))
        say(f"COGNI.BUILD answers at {address_of(listening)}")
        say(f'Ask:    cogni ask "How much parental leave do I get?" --as engineer --data {data}')
        say(f"Token:  cogni token --as engineer --data {data}")
        serve(product, held, listening, say)


@app.command()
def migrate(data: Data = DATA) -> None:
    """Bring the data folder's database to this version's schema."""
    with _held(data, new=True):
        say(f"The database in {data} is at revision {_ok(run_migrations(data))}.")


@app.command()
def ingest(
    path: Annotated[Path, typer.Argument(help="A file or folder to read.")],
    corpus: Annotated[str, typer.Option(help="The corpus that it feeds.")],
    data: Data = DATA,
    readers: Annotated[
        str | None,
        typer.Option(help="Who may read it, like g:hr,u:engineer. [default: everyone]"),
    ] = None,
    posix: Annotated[
        bool, typer.Option("--posix", help="Map each file's mode; refuse what has no equal.")
    ] = False,
) -> None:
    """Read a folder into a corpus; where the product runs on the data folder, it is that one which reads.

    What could not be read is named, with what to do about it.
    """
    named = "everyone" if readers is None else readers
    if posix and readers is not None:
        _fail(HumanText("Name readers or --posix, not both."))
    with _folder(data) as folder:
        _ok(folder.try_to_hold())
        product = _built(folder)
        tokens = None if posix else _ok(reader_tokens(product.demo.people, named))
        source = FolderSource(_resolved(path), encodable(corpus), tokens)
        with progress("Reading…") as show:
            left_out = _ok(asyncio.run(_ingest(product, source, folder, show)))
    say(f"{corpus} is read and indexed; {len(left_out)} on the gap list.")
    if product.watch.progress.seen:
        say(product.watch.line())
    for gap in left_out[:SHOWN_GAPS]:
        say(gap_line(gap))


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="What you want to know.")],
    as_: As,
    data: Data = DATA,
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON.")] = False,
) -> None:
    """Ask a question as somebody of the demo company."""
    outcome = _ok(_ask(encodable(question), as_, data, quiet=as_json))
    if as_json:
        typer.echo(json_line(outcome))
    else:
        _print_outcome(outcome)
    if outcome["kind"] == Outcome.FAILED.value:
        raise typer.Exit(1)


@app.command()
def chat(as_: As, data: Data = DATA) -> None:
    """Talk to the assistant as somebody of the demo company; an empty end of input ends it."""
    with _folder(data) as folder:
        held = _ok(folder.try_to_hold())
        product = _built(folder)
        _ok(asyncio.run(_chat(product, _account(product, as_), folder, held=held)))


@app.command()
def token(as_: As, data: Data = DATA) -> None:
    """Print a host token of the demo company, good on this machine for eight hours."""
    product = _built(_folder(data))
    typer.echo(_ok(asyncio.run(_token(product, _account(product, as_)))))


@app.command()
def gaps(
    data: Data = DATA,
    as_json: Annotated[bool, typer.Option("--json", help="Print it all as JSON.")] = False,
) -> None:
    """List what was not indexed, why, and what to do about it."""
    found = _ok(asyncio.run(_gaps(_built(_folder(data)))))
    if as_json:
        typer.echo(json_line(gap_list.as_json(found)))
        return
    for line in gap_list.lines(found):
        say(line)


@app.command()
def doctor(data: Data = DATA) -> None:
    """Tell what is bound, reachable and missing, and what to do."""
    findings = asyncio.run(examine(DataFolder(data), os.environ))
    for finding in findings:
        say(f"{'ok     ' if finding.is_well else 'problem'} {finding.line()}")
        for advice in finding.advice:
            say(f"        {advice}")
    if not all(finding.is_well for finding in findings):
        raise typer.Exit(1)


def main() -> None:
    """Run the command."""
    tolerate_any_text()
    app()


def _folder(data: Path) -> DataFolder:
    folder = DataFolder(data)
    _ok(folder.find())
    return folder


def _held(data: Path, *, new: bool) -> DataFolder:
    folder = DataFolder(data)
    _ok(folder.create() if new else folder.find())
    _ok(folder.hold())
    return folder


def _built(folder: DataFolder) -> Product:
    try:
        return build(embedded(folder.path, os.environ))
    except DefinitionError as error:
        _fail(error.message)


async def _checked(product: Product) -> Result[None]:
    return await product.bindings.refuse_other_schema()


async def _gaps(product: Product) -> Result[list[CorpusGaps]]:
    checked = await _checked(product)
    return checked if isinstance(checked, Err) else await gap_list.every_gap(product)


async def _token(product: Product, account: Account) -> Result[str]:
    checked = await _checked(product)
    return checked if isinstance(checked, Err) else await token_of(product, account)


async def _ingest(
    product: Product, source: FolderSource, folder: DataFolder, show: Show
) -> Result[list[Gap]]:
    ready = await _checked(product)
    if not isinstance(ready, Err):
        ready = await product.seed.plant(product.demo)
    if isinstance(ready, Err):
        return ready
    read = await read_into_corpus(product, source, folder, show)
    return read if isinstance(read, Err) else await gaps_of(product, source)


def _ask(question: str, person: str, data: Path, *, quiet: bool) -> Result[Mapping[str, object]]:
    with _folder(data) as folder:
        held = _ok(folder.try_to_hold())
        product = _built(folder)
        account = _account(product, person)
        return asyncio.run(_answered(product, account, question, folder, quiet=quiet, held=held))


async def _answered(
    product: Product,
    account: Account,
    question: str,
    folder: DataFolder,
    *,
    quiet: bool,
    held: bool,
) -> Result[Mapping[str, object]]:
    checked = await _checked(product)
    if isinstance(checked, Err):
        return checked
    show = _ignore if quiet else _show
    if not held:
        return await answer_there(product, account, question, folder, show)
    with progress("Reading the demo company…") as bar:
        read = await read_first(product, folder, bar)
    if isinstance(read, Err):
        return read
    return await answer_here(product, account, question, show)


async def _chat(
    product: Product, account: Account, folder: DataFolder, *, held: bool
) -> Result[None]:
    checked = await _checked(product)
    if held and not isinstance(checked, Err):
        with progress("Reading the demo company…") as bar:
            checked = await read_first(product, folder, bar)
    if isinstance(checked, Err):
        return checked
    async with connected(product, account, folder, held=held) as client:
        if isinstance(client, Err):
            return client
        language = language_of(os.environ.get("LANG", "").partition(".")[0].replace("_", "-"))
        client.value.headers["Accept-Language"] = language.value
        surface = TerminalSurface(language, lambda question: asyncio.to_thread(input, question))
        await TerminalChat(client.value, surface, say_on).talk(_question)
    return checked


async def _question() -> str | None:
    try:
        return encodable(await asyncio.to_thread(input, "> "))
    except EOFError:
        return None


def _show(delta: Delta) -> None:
    if isinstance(delta, TokenDelta):
        say_on(delta.text)
    if isinstance(delta, PhaseDelta):
        complain(f"{delta.detail}…", aside=True)


def _ignore(_: Delta) -> None:
    return


def _print_outcome(outcome: Mapping[str, object]) -> None:
    """Print what comes after the text: why it is none, what it proposes, its sources, its label."""
    typer.echo("")
    message = str(outcome.get("message") or "")
    if message and message not in str(outcome["text"]):
        say(message)
    for line in proposal_lines(outcome):
        say(line)
    for line in source_lines(outcome):
        say(line, aside=True)
    say(str(outcome["generated_label"]), aside=True)


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        _fail(HumanText(f"{path} leads nowhere. Name a file or folder that exists."))


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
    complain(str(message))
    raise typer.Exit(1)
