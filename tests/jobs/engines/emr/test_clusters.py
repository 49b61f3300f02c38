"""-r emr: which cluster the jobs run on, how it is made, and that no cluster of ours is left running."""

import json
import os
import re
import signal
import time
from typing import Any, Callable

import pytest
from botocore.exceptions import ClientError

pytestmark = pytest.mark.filterwarnings("ignore:Boto3 will no longer support Python")  # of 3.9

QUICK = ("--shards", 1, "--epochs", 1)
WHEEL = "mr_perceptron-0.1.0-cp39-cp39-linux_x86_64.whl"


def refuse(params: dict[str, Any]) -> None:
    raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": "you may not"}}, "AnyOperation")


# ---------------------------------------------------------------- one that is made for the command


def test_a_new_cluster_gets_the_wheel_and_cannot_be_forgotten(world: Any, train_on_emr: Callable[..., Any]) -> None:
    world.configure(extra_cluster_params={"AutoTerminationPolicy": {}})  # this does not switch it off
    seen: dict[str, bytes] = {}
    world.emr.watch = lambda step: seen.update({key: world.read(key) for key in world.objects("tmp/")})
    outcome = train_on_emr(*QUICK)
    assert outcome.code == 0, outcome.err
    (asked,) = world.emr.created
    assert asked["AutoTerminationPolicy"] == {"IdleTimeout": 600}
    assert asked["Instances"]["KeepJobFlowAliveWhenNoSteps"] is True
    assert asked["ReleaseLabel"] == "emr-7.5.0"
    assert (asked["ServiceRole"], asked["JobFlowRole"]) == ("EMR_DefaultRole", "EMR_EC2_DefaultRole")
    assert [fleet["InstanceFleetType"] for fleet in asked["Instances"]["InstanceFleets"]] == ["MASTER", "CORE"]
    assert world.states() == ["TERMINATED"]

    (action,) = asked["BootstrapActions"]  # the wheel for the nodes' Python, sent once, not once a job
    script = seen[action["ScriptBootstrapAction"]["Path"].partition("shelf/")[2]].decode()
    assert re.search(rf"aws s3 cp s3://shelf/tmp/\S+/{WHEEL} ", script)
    environment, install = re.findall("sudo .*", script)
    assert environment.startswith("sudo python3 -m venv /opt/perceptron")
    assert re.match(rf"sudo /opt/perceptron/bin/pip install boto3 \S*{WHEEL}", install)
    assert [data for key, data in seen.items() if key.endswith(WHEEL)] == [b"a wheel"]


def test_a_cluster_that_is_starting_when_the_user_interrupts_is_ended(
    world: Any, train_on_emr: Callable[..., Any]
) -> None:
    def interrupt(params: dict[str, Any]) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.2)  # so that it comes before EMR has answered

    world.on_request("RunJobFlow", interrupt)
    assert train_on_emr().code == 130
    assert world.states() == ["TERMINATED"]
    assert world.emr.steps == []
    assert world.objects("tmp/") == []


def test_a_cluster_that_cannot_be_tagged_is_ended(world: Any, train_on_emr: Callable[..., Any]) -> None:
    world.on_request("AddTags", refuse)
    outcome = train_on_emr()
    assert (outcome.code, world.states()) == (2, ["TERMINATED"])
    assert "perceptron: EMR refused: " in outcome.err and "you may not" in outcome.err


def test_a_cluster_that_cannot_be_ended_is_named(world: Any, train_on_emr: Callable[..., Any]) -> None:
    world.on_request("AddTags", refuse)
    world.on_request("TerminateJobFlows", refuse)
    outcome = train_on_emr("--quiet")
    assert (outcome.code, world.states()) == (2, ["WAITING"])
    (cluster_id,) = world.emr.clusters
    told = f"the EMR cluster {cluster_id} could not be ended: .*you may not.*EMR does so after 10 minutes without work"
    assert re.search(told, outcome.err)


@pytest.mark.parametrize("left", ["CANCELLED", "PENDING"])
def test_a_cluster_that_ends_by_itself_fails_the_job(left: str, world: Any, train_on_emr: Callable[..., Any]) -> None:
    def end(params: dict[str, Any]) -> None:
        (cluster,) = world.emr.clusters.values()
        cluster.state, cluster.last_state_change_reason = "TERMINATED_WITH_ERRORS", "bootstrap action 1 failed"
        cluster.steps[0].state = left

    world.emr.done.set()  # no step is worked on
    world.on_request("DescribeStep", end)
    outcome = train_on_emr()
    assert outcome.code == 1
    assert f"(TERMINATED_WITH_ERRORS) did not complete ({left}): bootstrap action 1 failed" in outcome.err


def test_a_cluster_without_the_product_is_refused_before_it_costs(world: Any, train_on_emr: Callable[..., Any]) -> None:
    options = json.loads(world.configure().read_text())
    del options["include"]
    options["runners"]["emr"]["iam_instance_profile"] = options["runners"]["emr"]["iam_service_role"] = "role"
    world.conf.write_text(json.dumps(options))
    outcome = train_on_emr()
    assert outcome.code == 2
    assert "a new EMR cluster does not have mr-perceptron" in outcome.err and "`bootstrap`" in outcome.err
    assert world.emr.created == []


# ---------------------------------------------------------------- one that is there already


@pytest.fixture
def existing(world: Any) -> str:
    made = world.client().run_job_flow(
        Name="mine",
        ReleaseLabel="emr-7.5.0",
        Applications=[{"Name": "Hadoop"}],
        Instances={"KeepJobFlowAliveWhenNoSteps": True},
    )
    world.emr.created.clear()
    return made["JobFlowId"]


def test_a_cluster_that_is_named_is_joined_and_left_running(
    world: Any, existing: str, train_on_emr: Callable[..., Any]
) -> None:
    cluster = world.emr.clusters[existing]

    def start_anew(params: dict[str, Any]) -> None:
        if len(cluster.steps) == 1:
            cluster.state = "BOOTSTRAPPING"

    world.on_request("DescribeStep", start_anew)
    world.configure(cluster_id="j-OTHER")
    outcome = train_on_emr(*QUICK, "--cluster-id", existing)  # counts more than the file
    assert outcome.code == 0, outcome.err
    assert outcome.err.count(f"EMR cluster {existing}: BOOTSTRAPPING\n") == 1
    assert world.emr.created == []
    assert (len(cluster.steps), cluster.state) == (2, "WAITING")
    assert not [key for key in world.objects("tmp/") if key.endswith(WHEEL)]


def test_a_named_cluster_outlives_a_failure(world: Any, existing: str, train_on_emr: Callable[..., Any]) -> None:
    world.configure(cluster_id=existing)
    world.emr.fails = lambda step: True
    assert train_on_emr(*QUICK).code == 1
    assert (world.states(), world.emr.created) == (["WAITING"], [])


def test_a_named_cluster_that_is_not_there_is_told(world: Any, train_on_emr: Callable[..., Any]) -> None:
    outcome = train_on_emr("--cluster-id", "j-GONE")
    assert outcome.code == 2
    assert "perceptron: EMR refused: " in outcome.err and "j-GONE" in outcome.err


@pytest.mark.parametrize("command", ["train", "prepare", "predict", "evaluate"])
def test_only_emr_has_clusters_to_name(command: str, perceptron: Any, corpus: Any, trained: Any, tmp_path: Any) -> None:
    data = ("--train", corpus / "train.txt")
    given = {
        "train": (corpus / "task.yaml", *data, "--run-dir", tmp_path / "run"),
        "prepare": (corpus / "task.yaml", *data, "--output", tmp_path / "prepared"),
        "predict": (trained, corpus / "dev.txt"),
        "evaluate": (trained, corpus / "dev.txt"),
    }[command]
    outcome = perceptron(command, *given, "--cluster-id", "j-MINE")
    assert (outcome.code, outcome.out.replace("prepare", "")) == (2, "")
    assert "--cluster-id names a cluster of Amazon EMR; add -r emr, or leave it out" in outcome.err
    assert list(tmp_path.iterdir()) == []


def test_a_pooled_cluster_stays_for_the_next_command_but_not_for_ever(
    world: Any, train_on_emr: Callable[..., Any], on_emr: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mrjob.pool._WAIT_AFTER_ADD_TAG", 0)  # for others' tags to be seen; there are no others
    world.configure(pool_clusters=True, max_mins_idle=0.1, num_core_instances=1)
    outcome = train_on_emr(*QUICK)
    assert outcome.code == 0, outcome.err
    (cluster,) = world.emr.clusters.values()
    assert (len(cluster.steps), cluster.state) == (2, "WAITING")
    assert world.emr.created[0]["AutoTerminationPolicy"] == {"IdleTimeout": 60}  # the least that EMR takes
    assert any(key.endswith(WHEEL) for key in world.objects("tmp/"))  # for a node that joins later
    scored = on_emr("evaluate", "s3://shelf/run", "s3://shelf/corpus/dev.txt")
    assert scored.code == 0, scored.err
    assert (len(cluster.steps), cluster.state, len(world.emr.created)) == (3, "WAITING", 1)
