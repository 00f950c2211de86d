"""OpenSearch with its k-NN plugin, put together from the jars that Maven's registry serves."""

import os
import shutil
import signal
import urllib.request
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from tests.servers.installing import fetch, installed
from tests.servers.process import UnavailableError, free_port, own_folder, running

VERSION = "2.19.1"  # the newest whose k-NN plugin is in the registry
LOG4J = "2.21.0"  # that of the log4j-api which this version brings
NETTY_RIGHTS = (
    'java.net.SocketPermission "*", "accept,connect"',
    'java.util.PropertyPermission "*", "write"',
    'java.lang.RuntimePermission "accessDeclaredMembers"',
    'java.lang.RuntimePermission "setContextClassLoader"',
    'java.lang.reflect.ReflectPermission "suppressAccessChecks"',
)
PAINLESS_RIGHTS = (
    'java.lang.RuntimePermission "createClassLoader"',
    'java.lang.RuntimePermission "getClassLoader"',
)
REINDEX_RIGHTS = ('java.net.SocketPermission "*", "connect"',)


@dataclass(frozen=True)
class _Module:
    """A part of the server that its usual archive has in a folder of its own."""

    name: str
    artifact: str
    rights: Sequence[str] = ()
    extends: str = ""


MODULES = (
    _Module("transport-netty4", "transport-netty4-client", NETTY_RIGHTS),
    _Module("lang-painless", "lang-painless", PAINLESS_RIGHTS),
    _Module("analysis-common", "analysis-common", extends="lang-painless"),
    _Module("reindex", "reindex-client", REINDEX_RIGHTS),
)

LOGGING = """status = error
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %p %c{1.}: %m%n
rootLogger.level = warn
rootLogger.appenderRef.out.ref = out
"""


@dataclass(frozen=True)
class OpenSearchServer:
    """A running server without an index.

    Attributes:
        url: On loopback; nobody is asked who they are.
        pid: Of its process.
        version: As it is called in a report.
    """

    url: str
    pid: int
    version: str = f"OpenSearch {VERSION} with k-NN"


@contextmanager
def opensearch() -> Iterator[OpenSearchServer]:
    """Run a server with a new data folder until the end of the block.

    Raises:
        UnavailableError: It cannot be had here.
    """
    java = _java()
    home = installed(f"opensearch-{VERSION}", _install)
    with own_folder() as folder:
        port = free_port()
        for name in ("config", "data", "logs", "tmp"):
            (folder / name).mkdir(mode=0o777)
            (folder / name).chmod(0o777)
        for name in ("modules", "plugins"):
            (folder / name).symlink_to(home / name)
        _configure(folder, port)
        url = f"http://127.0.0.1:{port}"
        with running(
            _command(java, home, folder),
            {"HOME": str(folder)},
            folder / "server.log",
            lambda: _answers(url),
            signal.SIGKILL,  # in peace it takes half a minute, and its data goes anyway
        ) as pid:
            yield OpenSearchServer(url, pid)


def _java() -> str:
    named = os.environ.get("JAVA_HOME")
    java = f"{named}/bin/java" if named else shutil.which("java")
    if java is None or shutil.which("mvn") is None:
        raise UnavailableError("java and mvn are needed")
    return java


def _command(java: str, home: Path, folder: Path) -> list[str]:
    properties = {
        "java.security.manager": "allow",
        "java.io.tmpdir": str(folder / "tmp"),
        "jna.nosys": "true",
        "log4j2.disable.jmx": "true",
        "io.netty.noUnsafe": "true",
        "io.netty.noKeySetOptimization": "true",
        "opensearch.path.home": str(folder),
        "opensearch.path.conf": str(folder / "config"),
        "opensearch.distribution.type": "tar",
        "opensearch.bundled_jdk": "false",
    }
    return [
        *(java, "-Xms768m", "-Xmx768m", "-XX:TieredStopAtLevel=1"),
        *(f"-D{name}={value}" for name, value in properties.items()),
        "--add-opens=java.base/java.nio=ALL-UNNAMED",
        *("-cp", f"{home}/lib/*", "org.opensearch.bootstrap.OpenSearch"),
    ]


def _configure(folder: Path, port: int) -> None:
    settings = {
        "network.host": "127.0.0.1",
        "http.port": port,
        "transport.port": free_port(),
        "discovery.type": "single-node",
        "path.data": folder / "data",
        "path.logs": folder / "logs",
        "cluster.routing.allocation.disk.threshold_enabled": "false",
        "cluster.max_shards_per_node": 5000,
        "action.auto_create_index": "false",
    }
    lines = [f"{name}: {value}\n" for name, value in settings.items()]
    (folder / "config/opensearch.yml").write_text("".join(lines))
    (folder / "config/log4j2.properties").write_text(LOGGING)
    (folder / "config/jvm.options").touch()


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(
            f"{url}/_cluster/health?wait_for_status=yellow&timeout=1s"
        ) as got:
            return bool(got.status == 200)
    except OSError:
        return False


def _install(folder: Path) -> None:
    core = [
        f"org.opensearch:opensearch:{VERSION}",
        f"org.opensearch:opensearch-plugin-classloader:{VERSION}",
        f"org.apache.logging.log4j:log4j-core:{LOG4J}",
    ]
    wanted = {"lib": core} | {
        f"modules/{m.name}": [f"org.opensearch.plugin:{m.artifact}:{VERSION}"] for m in MODULES
    }
    _fetch_jars(folder, wanted)
    for module in MODULES:
        _describe(folder, module)
    _fetch_knn(folder)


def _fetch_jars(folder: Path, wanted: Mapping[str, Sequence[str]]) -> None:
    """Bring each folder's jars with all that they need: a project each, of one build."""
    poms = folder / "poms"
    for number, (name, artifacts) in enumerate(wanted.items()):
        (poms / f"p{number}").mkdir(parents=True)
        (poms / f"p{number}/pom.xml").write_text(_pom(f"p{number}", folder / name, artifacts))
    modules = "".join(f"<module>p{number}</module>" for number in range(len(wanted)))
    (poms / "pom.xml").write_text(_project("all", f"<modules>{modules}</modules>"))
    fetch(["mvn", "-q", "-B", "-f", str(poms / "pom.xml"), "dependency:copy-dependencies"])
    shutil.rmtree(poms)


def _pom(name: str, into: Path, artifacts: Sequence[str]) -> str:
    needs = ""
    for artifact in artifacts:
        parts = zip(("groupId", "artifactId", "version"), artifact.split(":"), strict=True)
        needs += f"<dependency>{''.join(f'<{k}>{v}</{k}>' for k, v in parts)}</dependency>"
    return _project(
        name,
        f"<dependencies>{needs}</dependencies><build><plugins><plugin>"
        "<groupId>org.apache.maven.plugins</groupId><artifactId>maven-dependency-plugin</artifactId>"
        f"<configuration><includeScope>runtime</includeScope><outputDirectory>{escape(str(into))}"
        "</outputDirectory></configuration></plugin></plugins></build>",
    )


def _project(name: str, content: str) -> str:
    return (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        f"<groupId>cogni.tests</groupId><artifactId>{name}</artifactId><version>1</version>"
        f"<packaging>pom</packaging>{content}</project>"
    )


def _describe(folder: Path, module: _Module) -> None:
    """Write what the archive would have beside a module's jars, and drop the jars that the server has."""
    here = folder / "modules" / module.name
    have = {_unversioned(jar) for jar in (folder / "lib").glob("*.jar")}
    for jar in list(here.glob("*.jar")):
        if _unversioned(jar) in have:
            jar.unlink()
    with zipfile.ZipFile(here / f"{module.artifact}-{VERSION}.jar") as jar_file:
        [plugin, *_] = [name for name in jar_file.namelist() if name.endswith("Plugin.class")]
    described = {
        "name": module.name,
        "description": module.name,
        "version": VERSION,
        "opensearch.version": VERSION,
        "java.version": "11",
        "classname": plugin.removesuffix(".class").replace("/", "."),
        "extended.plugins": module.extends,
        "has.native.controller": "false",
    }
    lines = [f"{name}={value}\n" for name, value in described.items()]
    (here / "plugin-descriptor.properties").write_text("".join(lines))
    if module.rights:
        rights = "".join(f"permission {right};\n" for right in module.rights)
        (here / "plugin-security.policy").write_text(f"grant {{\n{rights}}};\n")


def _unversioned(jar: Path) -> str:
    return jar.stem.rstrip("0123456789.").removesuffix("-")


def _fetch_knn(folder: Path) -> None:
    artifact = f"org.opensearch.plugin:opensearch-knn:{VERSION}.0:zip"
    into = folder / "plugins/opensearch-knn"
    into.mkdir(parents=True)
    fetch(
        [
            "mvn",
            "-q",
            "-B",
            "dependency:copy",
            f"-Dartifact={artifact}",
            f"-DoutputDirectory={into}",
        ]
    )
    [archive] = into.glob("*.zip")
    with zipfile.ZipFile(archive) as files:
        files.extractall(into)
    archive.unlink()
