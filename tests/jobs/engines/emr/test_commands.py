"""-r emr: predict, evaluate and prepare as steps, mistakes in the corpus, and the ready configuration."""

import logging
import re
from pathlib import Path
from typing import Any, Callable

import pytest
from botocore.validate import ParamValidator

from perceptron_jobs.engines.emr import EmrRunner, configured
from repository import ROOT

pytestmark = pytest.mark.filterwarnings("ignore:Boto3 will no longer support Python")  # of 3.9

READY = ROOT / "configs" / "mrjob.emr.conf"


def test_predict_and_evaluate(world: Any, on_emr: Callable[..., Any], must: Any, inline: Path) -> None:
    world.upload(inline)
    dev, model = "s3://shelf/corpus/dev.txt", "s3://shelf/run/model"
    (local := world.conf.parent / "dev.txt").write_bytes(world.read("corpus/dev.txt"))

    tagged = on_emr("predict", model, dev, "--output", "s3://shelf/tagged.txt")
    assert tagged.code == 0, tagged.err
    assert world.read("tagged.txt").decode() == must("predict", inline, local)

    scored = on_emr("evaluate", model, dev)
    assert (scored.code, scored.out) == (0, must("evaluate", inline, local)), scored.err
    from_here = on_emr("evaluate", inline / "model", local)  # a file of this machine is put on S3 first
    assert (from_here.code, from_here.out) == (0, scored.out), from_here.err

    assert [step.files().get("model") for step in world.emr.steps[:2]] == [model, model]
    assert world.states() == ["TERMINATED"] * 3
    assert all(asked["AutoTerminationPolicy"] for asked in world.emr.created)


def test_trees_on_s3_are_scored_without_a_cluster(world: Any, on_emr: Callable[..., Any]) -> None:
    for name, head in (("gold", 0), ("predicted", 0), ("other", 7)):
        row = f"1\t树\t_\t_\t_\t_\t{head}\troot\t_\t_\n"
        world.s3.put_object(Bucket="shelf", Key=f"{name}.conllu", Body=row.encode())
    scored = on_emr("evaluate", "s3://shelf/gold.conllu", "s3://shelf/predicted.conllu")
    assert scored.code == 0 and "LAS                             100.00%" in scored.out
    refused = on_emr("evaluate", "s3://shelf/gold.conllu", "s3://shelf/other.conllu")
    assert refused.code == 2 and "s3://shelf/other.conllu:1: word 1 (树) has the head '7'" in refused.err
    assert world.states() == []


def test_prepare_gives_the_shards_of_inline(world: Any, on_emr: Callable[..., Any], inline: Path, corpus: Path) -> None:
    given = (corpus / "task.yaml", "--train", "s3://shelf/corpus/train.txt", "--shards", 4)
    outcome = on_emr("prepare", *given, "--output", "s3://shelf/prepared")
    assert outcome.code == 0, outcome.err
    shards = sorted((inline / "prepared").glob("*.gz"))
    assert len(shards) == 4
    for path in shards:
        assert world.read(f"prepared/{path.name}") == path.read_bytes()


def test_a_mistake_in_the_corpus_is_told_as_everywhere(world: Any, on_emr: Callable[..., Any], corpus: Path) -> None:
    world.s3.put_object(Bucket="shelf", Key="corpus/bad.txt", Body="кот NN B-NP\n时间 NN\n".encode())
    given = (corpus / "task.yaml", "--train", "s3://shelf/corpus/bad.txt", "--run-dir", "s3://shelf/bad")
    outcome = on_emr("train", *given)
    assert outcome.code == 2
    assert "s3://shelf/corpus/bad.txt:2" in outcome.err
    assert world.objects("bad/") == []


# ---------------------------------------------------------------- the ready configuration


def test_mrjob_knows_every_option_that_the_ready_configuration_names(
    world: Any, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = set(re.findall(r"^    (?:# +)?([a-z0-9_]+):(?: |$)", READY.read_text(encoding="utf-8"), re.MULTILINE))
    assert {"bootstrap", "instance_fleets", "num_core_instances", "cluster_id", "extra_cluster_params"} <= named
    assert named <= EmrRunner.OPT_NAMES
    monkeypatch.setattr(logging.getLogger("mrjob"), "level", logging.WARNING)
    EmrRunner(conf_paths=[str(READY)])
    assert caplog.messages == []


def test_emr_takes_what_the_ready_configuration_asks_for(world: Any, tmp_path: Path) -> None:
    text = READY.read_text(encoding="utf-8")
    conf = tmp_path / "all.conf"  # with the examples of a task fleet and of tags that stand in comments
    conf.write_text(re.sub(r"^    # (extra_cluster_params:|(?:- |  )+[A-Z]\w+:)", r"    \1", text, flags=re.MULTILINE))
    options = configured(str(conf))
    assert [fleet["Name"] for fleet in options["instance_fleets"]] == ["master", "core", "task"]
    wanted = {"Name": "any", "Instances": {"InstanceFleets": options["instance_fleets"]}}
    shape = world.client().meta.service_model.operation_model("RunJobFlow").input_shape
    report = ParamValidator().validate({**wanted, **options["extra_cluster_params"]}, shape)
    assert report.generate_report() == ""
