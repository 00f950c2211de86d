"""The chart: every workload is hardened alike, and nothing secret or misspelt gets into a manifest."""

import re
from pathlib import Path

import pytest

from tests.deploy.tools import CHART, KEDA, Chart, Tools, of_kind, pods, selects, values_files

FILES = [None, *values_files()]
CLUSTER = str(CHART / "ci/cluster.yaml")
CLASSES = {
    "conversational": 1000,
    "machine": 700,
    "ambient": 400,
    "indexing": 200,
    "rendering": 200,
}


@pytest.fixture(scope="module", params=FILES, ids=lambda file: file.stem if file else "defaults")
def values(request: pytest.FixtureRequest) -> list[str]:
    return ["-f", str(request.param)] if request.param else []


@pytest.fixture(scope="module", params=["with-keda", "without-keda"])
def rendered(request: pytest.FixtureRequest, chart: Chart, values: list[str]) -> str:
    return chart.render(*values, *(["-a", KEDA] if request.param == "with-keda" else []))


def test_helm_finds_nothing_to_complain_of(chart: Chart, values: list[str]) -> None:
    done = chart.run("lint", "--strict", str(CHART), *values)

    assert done.returncode == 0, done.stdout + done.stderr


def test_every_manifest_is_strictly_of_kubernetes_schemas(
    rendered: str, judges: Tools, tmp_path: Path
) -> None:
    file = tmp_path / "manifests.yaml"
    file.write_text(rendered)

    assert judges.schema_errors(file) == ""


def test_a_misspelt_field_is_found_by_the_judge(
    chart: Chart, judges: Tools, tmp_path: Path
) -> None:
    file = tmp_path / "manifests.yaml"
    file.write_text(chart.render().replace("runAsNonRoot:", "runAsNonroot:"))

    assert "runAsNonroot" in judges.schema_errors(file)


def test_every_pod_is_nobody_on_a_file_system_that_it_cannot_change(rendered: str) -> None:
    found = list(pods(rendered))

    assert found
    for name, pod, _ in found:
        assert pod["securityContext"]["runAsNonRoot"] is True, name
        assert pod["securityContext"]["runAsUser"] > 0, name
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}, name
        assert pod["automountServiceAccountToken"] is False, name
        for container in pod["containers"]:
            context = container["securityContext"]
            assert context["readOnlyRootFilesystem"] is True, name
            assert context["allowPrivilegeEscalation"] is False, name
            assert context["capabilities"] == {"drop": ["ALL"]}, name
            assert {"cpu", "memory"} <= container["resources"]["limits"].keys(), name
            assert {"cpu", "memory"} <= container["resources"]["requests"].keys(), name
            assert re.search(r":[^/]+$", container["image"]), name
            assert not container["image"].endswith(":latest"), name


def test_every_deployment_is_probed_and_has_time_to_drain(rendered: str) -> None:
    for name, deployment in of_kind(rendered, "Deployment").items():
        pod = deployment["spec"]["template"]["spec"]
        [container] = pod["containers"]
        paths = {
            probe: container[probe]["httpGet"]["path"]
            for probe in ("startupProbe", "livenessProbe", "readinessProbe")
        }
        ports = {port["name"] for port in container["ports"]}

        assert paths == {
            "startupProbe": "/healthz",
            "livenessProbe": "/healthz",
            "readinessProbe": "/readyz",
        }, name
        assert container["readinessProbe"]["httpGet"]["port"] in ports, name
        assert pod["terminationGracePeriodSeconds"] > 15, name


def test_every_deployment_has_one_budget_and_one_policy_of_its_own(rendered: str) -> None:
    budgets = of_kind(rendered, "PodDisruptionBudget")
    policies = of_kind(rendered, "NetworkPolicy")

    for name, deployment in of_kind(rendered, "Deployment").items():
        labels = deployment["spec"]["template"]["metadata"]["labels"]
        own = [it for it, b in budgets.items() if selects(b["spec"]["selector"], labels)]
        held = [it for it, p in policies.items() if selects(p["spec"]["podSelector"], labels)]

        assert own == [name]
        assert held == [name]
        assert policies[name]["spec"]["policyTypes"] == ["Ingress", "Egress"]


def test_every_workload_has_a_policy_and_a_priority_of_the_five(rendered: str) -> None:
    policies = of_kind(rendered, "NetworkPolicy").values()

    for name, pod, labels in pods(rendered):
        assert [p for p in policies if selects(p["spec"]["podSelector"], labels)], name
        assert pod["priorityClassName"].removeprefix("cogni-") in CLASSES, name


def test_no_policy_opens_everything(rendered: str) -> None:
    for name, policy in of_kind(rendered, "NetworkPolicy").items():
        for rule in policy["spec"].get("ingress", []):
            assert all((rule["from"], rule["ports"])), name
        for rule in policy["spec"]["egress"]:
            assert all((rule["to"], rule["ports"])), name
            blocks = [to["ipBlock"] for to in rule["to"] if "ipBlock" in to]
            for block in blocks:
                open_to_all = block["cidr"] == "0.0.0.0/0"
                assert not open_to_all or "169.254.0.0/16" in block["except"], name


def test_no_secret_is_made_and_no_value_of_one_is_written(rendered: str) -> None:
    assert not of_kind(rendered, "Secret")
    for name, pod, _ in pods(rendered):
        for container in pod["containers"]:
            for variable in container.get("env", []):
                assert not re.search(r"(KEY|SECRET|PASSWORD|TOKEN)$", variable["name"]), name


@pytest.mark.parametrize(
    ("setting", "named"),
    [
        ("env.OPENAI_API_KEY=sk-canary", "OPENAI_API_KEY"),
        ("services.edge.env.DB_PASSWORD=canary", "DB_PASSWORD"),
        ("env.DATABASE_URL=postgresql://cogni:canary@db/cogni", "DATABASE_URL"),
        ("services.edge.replicas=3", "replicas"),
        ("services.gateway.enabled=true", "gateway"),
        ("services.edge.priority=urgent", "priority"),
        ("services.edge.ports.http=70000", "http"),
        ("services.edge.probes.port=ops", "ports"),
        ("services.embedded.scaling.max=2", "scaling"),
        ("services.embedded.resources.limits.memory=lots", "memory"),
    ],
)
def test_a_wrong_setting_is_refused_by_name(chart: Chart, setting: str, named: str) -> None:
    said = chart.refusal("--set", setting)

    assert named in said
    assert "canary" not in said or "DATABASE_URL" in setting


def test_a_service_without_its_server_is_refused_with_the_name_of_the_setting(chart: Chart) -> None:
    assert "servers.database" in chart.refusal("--set", "services.edge.enabled=true")


def test_more_replicas_at_least_than_at_most_are_refused(chart: Chart) -> None:
    said = chart.refusal("-f", CLUSTER, "--set", "services.turn.scaling.min=99")

    assert "services.turn.scaling" in said


def test_the_five_classes_are_those_of_the_specification(chart: Chart) -> None:
    classes = of_kind(chart.render(), "PriorityClass")

    assert {name: it["value"] for name, it in classes.items()} == {
        f"cogni-{name}": value for name, value in CLASSES.items()
    }
    assert classes["cogni-conversational"]["preemptionPolicy"] == "Never"


def test_what_has_no_image_yet_is_off(chart: Chart) -> None:
    assert list(of_kind(chart.render(), "Deployment")) == ["cogni-embedded"]


def test_each_part_is_scaled_apart_and_by_lag_only_where_keda_is(chart: Chart) -> None:
    without = chart.render("-f", CLUSTER)
    with_keda = chart.render("-f", CLUSTER, "-a", KEDA)
    by_lag = {"cogni-indexing", "cogni-ambient", "cogni-rendering"}

    assert not of_kind(without, "ScaledObject")
    assert of_kind(with_keda, "ScaledObject").keys() == by_lag
    for rendered in (without, with_keda):
        scaled = [*of_kind(rendered, "HorizontalPodAutoscaler").values()]
        scaled += of_kind(rendered, "ScaledObject").values()
        targets = sorted(it["spec"]["scaleTargetRef"]["name"] for it in scaled)
        assert targets == sorted(of_kind(rendered, "Deployment"))
    for name, it in of_kind(with_keda, "ScaledObject").items():
        [trigger] = it["spec"]["triggers"]
        assert trigger["metadata"]["bootstrapServers"] == "kafka.kafka:9092", name


def test_what_scales_does_not_also_name_its_replicas(chart: Chart) -> None:
    for name, deployment in of_kind(chart.render("-f", CLUSTER), "Deployment").items():
        assert "replicas" not in deployment["spec"], name


def test_a_renderer_has_much_memory_a_sandbox_and_scratch_and_indexing_its_own_nodes(
    chart: Chart,
) -> None:
    found = of_kind(chart.render("-f", CLUSTER), "Deployment")
    renderer = found["cogni-rendering"]["spec"]["template"]["spec"]
    indexer = found["cogni-indexing"]["spec"]["template"]["spec"]

    assert renderer["nodeSelector"] == {"cogni.build/memory": "high"}
    assert renderer["runtimeClassName"] == "gvisor"
    assert renderer["volumes"][0]["emptyDir"]["sizeLimit"] == "4Gi"
    assert indexer["nodeSelector"] == {"cogni.build/pool": "indexing"}
    assert indexer["tolerations"][0]["value"] == "indexing"


def test_a_key_is_a_file_of_a_secret_that_others_made(chart: Chart) -> None:
    found = of_kind(chart.render("-f", CLUSTER), "Deployment")["cogni-event-sink"]
    pod = found["spec"]["template"]["spec"]
    [volume] = [it for it in pod["volumes"] if "secret" in it]
    [mount] = [it for it in pod["containers"][0]["volumeMounts"] if it["name"] == volume["name"]]
    [named] = [it["value"] for it in pod["containers"][0]["env"] if it["name"].endswith("KEY_FILE")]

    assert volume["secret"]["secretName"] == "event-sink-key"
    assert mount["readOnly"] is True
    assert named.startswith(mount["mountPath"])


def test_the_migration_is_a_job_that_was_asked_for_and_no_part_of_a_start(chart: Chart) -> None:
    usual = chart.render()
    asked = chart.render("--set", "migration.run=true")

    assert not of_kind(usual, "Job")
    assert [name for name, pod, _ in pods(usual) if "initContainers" in pod] == []
    assert all(
        "migrate" not in container.get("args", [])
        for _, pod, _ in pods(usual)
        for container in pod["containers"]
    )
    [job] = of_kind(asked, "Job").values()
    assert "annotations" not in job["metadata"]
    assert job["spec"]["template"]["spec"]["containers"][0]["args"][0] == "migrate"
    assert of_kind(asked, "Deployment")["cogni-embedded"]["spec"]["replicas"] == 0


def test_the_request_path_goes_on_while_a_migration_runs(chart: Chart) -> None:
    asked = chart.render("-f", CLUSTER, "--set", "migration.run=true", "--set", "migration.of=edge")
    [job] = of_kind(asked, "Job").values()

    assert len(of_kind(asked, "Deployment")) == 8
    assert all(d["spec"].get("replicas") != 0 for d in of_kind(asked, "Deployment").values())
    assert [v["name"] for v in job["spec"]["template"]["spec"]["volumes"]] == ["tmp"]


def test_who_calls_whom_is_all_that_the_network_lets_through(chart: Chart) -> None:
    policies = of_kind(chart.render("-f", CLUSTER), "NetworkPolicy")

    def callers(name: str) -> set[str]:
        return {
            peer["podSelector"]["matchLabels"]["app.kubernetes.io/component"]
            for rule in policies[name]["spec"]["ingress"]
            for peer in rule["from"]
            if "podSelector" in peer and "namespaceSelector" not in peer
        }

    assert callers("cogni-turn") == {"edge"}
    assert callers("cogni-retrieval") == {"turn", "ambient"}
    assert callers("cogni-edge") == set()
