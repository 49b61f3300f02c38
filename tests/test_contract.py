"""What we override or use of mrjob and hdfs although it is not theirs to promise, with its signature and its home.

mrjob is pinned (setup.cfg). If another version moves or changes one of these, a test says which module to look at.
The last two tests find what is overridden or used in jobs/ and not in the table.
"""

import ast
import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

import pytest
from hdfs.util import HdfsError
from mrjob.emr import EMRJobRunner
from mrjob.fs.hadoop import HadoopFilesystem
from mrjob.hadoop import HadoopJobRunner
from mrjob.inline import InlineMRJobRunner
from mrjob.job import MRJob
from mrjob.local import LocalMRJobRunner
from mrjob.runner import MRJobRunner

from perceptron_jobs.engines.emr import EmrRunner
from perceptron_jobs.engines.hadoop import HadoopRunner, WebHdfsFilesystem
from perceptron_jobs.engines.private import PrivateFolder
from perceptron_jobs.engines.this_machine import InlineRunner, LocalRunner
from perceptron_jobs.mr.job import Job
from perceptron_jobs.mr.shard_job import ShardJob

JOBS = Path(__file__).resolve().parent.parent / "jobs"

# what we use → (its signature, the class or module that defines it, the modules of ours to look at)
CONTRACT = {
    # jobs: arguments are declared once per process; the runner is ours
    "mrjob.job:MRJob.run": ("(cls)", "mrjob.job.MRJob", "mr/job.py"),
    "mrjob.job:MRJob.configure_args": ("(self)", "mrjob.job.MRJob", "mr/job.py"),
    "mrjob.job:MRJob._non_option_kwargs": ("(self)", "mrjob.job.MRJob", "mr/job.py"),
    "mrjob.job:MRJob._runner_class": ("(self)", "mrjob.job.MRJob", "engines/runners.py"),
    "mrjob.job:MRJob.internal_protocol": ("(self)", "mrjob.job.MRJob", "mr/shard_job.py"),
    "mrjob.job:MRJob.mapper_init": ("(self)", "mrjob.job.MRJob", "mr/shard_job.py"),
    "mrjob.job:MRJob.mapper": ("(self, key, value)", "mrjob.job.MRJob", "mr/shard_job.py"),
    "mrjob.job:MRJob.mapper_final": ("(self)", "mrjob.job.MRJob", "mr/shard_job.py"),
    "mrjob.job:MRJob.reducer_init": ("(self)", "mrjob.job.MRJob", "mr/shard_job.py"),
    "mrjob.job:MRJob.reducer": ("(self, key, values)", "mrjob.job.MRJob", "mr/shard_job.py"),
    "mrjob.job:MRJob.reducer_final": ("(self)", "mrjob.job.MRJob", "mr/shard_job.py"),
    # the inline and the local runner
    "mrjob.inline:InlineMRJobRunner._run_multiple": (
        "(self, funcs, num_processes=None)",
        "mrjob.sim.SimMRJobRunner",
        "engines/this_machine.py",
    ),
    "mrjob.inline:InlineMRJobRunner._num_reducers": (
        "(self, step_num)",
        "mrjob.sim.SimMRJobRunner",
        "engines/this_machine.py",
    ),
    "mrjob.inline:InlineMRJobRunner._sort_input_func": (
        "(self)",
        "mrjob.sim.SimMRJobRunner",
        "engines/this_machine.py",
    ),
    "mrjob.local:LocalMRJobRunner._sort_input_func": (
        "(self)",
        "mrjob.local.LocalMRJobRunner",
        "engines/this_machine.py",
    ),
    "mrjob.inline:InlineMRJobRunner._cleanup_local_tmp": (
        "(self)",
        "mrjob.runner.MRJobRunner",
        "engines/this_machine.py",
    ),
    "mrjob.inline:InlineMRJobRunner._invoke_task_func": (
        "(self, task_type, step_num, task_num)",
        "mrjob.inline.InlineMRJobRunner",
        "engines/this_machine.py",
    ),
    "mrjob.inline:InlineMRJobRunner._jobconf_for_step": (
        "(self, step_num)",
        "mrjob.runner.MRJobRunner",
        "engines/this_machine.py",
    ),
    "mrjob.inline:InlineMRJobRunner._args_for_task": (
        "(self, step_num, mrc)",
        "mrjob.runner.MRJobRunner",
        "engines/this_machine.py",
    ),
    "mrjob.local:LocalMRJobRunner._run_multiple": (
        "(self, funcs, num_processes=None)",
        "mrjob.local.LocalMRJobRunner",
        "engines/this_machine.py",
    ),
    "mrjob.local:LocalMRJobRunner._invoke_task_func": (
        "(self, task_type, step_num, task_num)",
        "mrjob.local.LocalMRJobRunner",
        "engines/this_machine.py",
    ),
    "mrjob.local:LocalMRJobRunner._log_cause_of_error": (
        "(self, ex)",
        "mrjob.local.LocalMRJobRunner",
        "engines/this_machine.py",
    ),
    "mrjob.local:LocalMRJobRunner._substep_args": (
        "(self, step_num, mrc)",
        "mrjob.bin.MRJobBinRunner",
        "engines/this_machine.py",
    ),
    "mrjob.local:LocalMRJobRunner._num_steps": ("(self)", "mrjob.runner.MRJobRunner", "engines/this_machine.py"),
    "mrjob.local:_TaskFailedException": (
        "(reason=None, step_num=None, num_steps=None, step_desc=None, task_type=None, task_num=None)",
        "mrjob.local",
        "engines/this_machine.py",
    ),
    # all runners
    "mrjob.runner:MRJobRunner._get_local_tmp_dir": ("(self)", "mrjob.runner.MRJobRunner", "engines/private.py"),
    "mrjob.runner:MRJobRunner._cleanup_local_tmp": ("(self)", "mrjob.runner.MRJobRunner", "engines/private.py"),
    # Hadoop
    "mrjob.hadoop:HadoopJobRunner.fs": ("(self)", "mrjob.hadoop.HadoopJobRunner", "engines/hadoop.py"),
    "mrjob.hadoop:HadoopJobRunner._run_hadoop": (
        "(self, hadoop_args, env, record_callback)",
        "mrjob.hadoop.HadoopJobRunner",
        "engines/hadoop.py",
    ),
    "mrjob.logs.step:_interpret_hadoop_jar_command_stderr": (
        "(lines, record_callback=None)",
        "mrjob.logs.step",
        "engines/hadoop.py",
    ),
    **{
        f"mrjob.fs.hadoop:HadoopFilesystem.{name}": (
            f"(self, {arguments})",
            "mrjob.fs.hadoop.HadoopFilesystem",
            "engines/hadoop.py",
        )
        for name, arguments in {
            "__init__": "hadoop_bin=None",
            "can_handle_path": "path",
            "ls": "path_glob",
            "du": "path_glob",
            "exists": "path_glob",
            "mkdir": "path",
            "put": "src, path",
            "rm": "path_glob",
            "touchz": "path",
            "_cat_file": "path",
        }.items()
    },
    # EMR
    "mrjob.fs.s3:_endpoint_url": ("(host_or_uri)", "mrjob.fs.s3", "engines/emr.py"),
    "mrjob.emr:EMRJobRunner._default_opts": ("(cls)", "mrjob.emr.EMRJobRunner", "engines/emr.py"),
    "mrjob.emr:EMRJobRunner._parse_bootstrap": ("(self)", "mrjob.cloud.HadoopInTheCloudJobRunner", "engines/emr.py"),
    "mrjob.emr:EMRJobRunner.run": ("(self)", "mrjob.runner.MRJobRunner", "engines/emr.py"),
    **{
        f"mrjob.emr:EMRJobRunner.{name}": (f"(self{arguments})", "mrjob.emr.EMRJobRunner", "engines/emr.py")
        for name, arguments in {
            "__init__": ", **kwargs",
            "_cmdenv": "",
            "_create_cluster": ", persistent=False",
            "_add_tags": ", tags, cluster_id",
            "_cluster_kwargs": ", persistent=False",
            "get_hadoop_version": "",
            "_wait_for_step_to_complete": ", step_id, step_num=None",
            "_find_cluster": "",
            "_s3_log_dir": "",
        }.items()
    },
    # WebHDFS: requests of which `hdfs` has no public form
    "hdfs.client:Client._open": (
        "(client, hdfs_path, data=None, strict=True, **params)",
        "hdfs.client.Client",
        "storage/webhdfs_client.py",
    ),
    "hdfs.client:Client._rename": (
        "(client, hdfs_path, data=None, strict=True, **params)",
        "hdfs.client.Client",
        "storage/webhdfs_client.py",
    ),
}

# attributes of theirs that are not methods → (the class that sets them, our module)
ATTRIBUTES = {
    "_passthru_arg_dests": ("mrjob.job:MRJob", "mr/job.py"),
    "_file_arg_dests": ("mrjob.job:MRJob", "mr/job.py"),
    "_fs": ("mrjob.runner:MRJobRunner", "engines/hadoop.py"),
    "_opts": ("mrjob.runner:MRJobRunner", "engines/hadoop.py, engines/emr.py and engines/this_machine.py"),
    "_mrjob_cls": ("mrjob.inline:InlineMRJobRunner", "engines/this_machine.py"),
    "_local_tmp_dir": ("mrjob.runner:MRJobRunner", "engines/private.py and engines/this_machine.py"),
    "_cluster_id": ("mrjob.emr:EMRJobRunner", "engines/emr.py"),
    "_hadoop_version": ("mrjob.fs.hadoop:HadoopFilesystem", "engines/hadoop.py"),
}

OURS: dict[type, type] = {
    Job: MRJob,
    ShardJob: MRJob,
    PrivateFolder: MRJobRunner,
    InlineRunner: InlineMRJobRunner,
    LocalRunner: LocalMRJobRunner,
    HadoopRunner: HadoopJobRunner,
    WebHdfsFilesystem: HadoopFilesystem,
    EmrRunner: EMRJobRunner,
}
CONSTANTS = {"INPUT_PROTOCOL", "INTERNAL_PROTOCOL", "OUTPUT_PROTOCOL"}  # documented to be set


def found(name: str) -> tuple[Callable[..., Any], str]:
    """A function or method, and where it is defined."""
    module, _, path = name.partition(":")
    holder: Any = importlib.import_module(module)
    if "." not in path:
        return getattr(holder, path), getattr(holder, path).__module__
    kind, method = path.split(".")
    owner = next((each for each in getattr(holder, kind).__mro__ if method in vars(each)), None)
    assert owner is not None, f"{kind} has no {method} any more"
    defined = vars(owner)[method]
    if isinstance(defined, property):
        defined = defined.fget
    return getattr(defined, "__func__", defined), f"{owner.__module__}.{owner.__name__}"


@pytest.mark.parametrize("name", CONTRACT)
def test_what_we_override_or_use_is_as_it_was(name: str) -> None:
    signature, home, module = CONTRACT[name]
    function, defined_in = found(name)
    assert (str(inspect.signature(function)), defined_in) == (signature, home), (
        f"{name} was {signature} of {home} when jobs/{module} was written; see what has changed and adapt that module"
    )


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_attributes_that_we_use_are_still_set(name: str) -> None:
    home, module = ATTRIBUTES[name]
    source = inspect.getsource(importlib.import_module(home.partition(":")[0]))
    assert f"self.{name} = " in source, f"{home} does not set {name} any more; see what does, and adapt jobs/{module}"


def test_an_error_of_hdfs_names_the_exception() -> None:
    error = HdfsError("there is none: %s", "/x", exception="FileNotFoundException")
    told = (error.message, error.exception)
    assert told == ("there is none: /x", "FileNotFoundException"), "jobs/storage reads both; see what has changed"


def our_modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(JOBS.rglob("*.py")):
        yield str(path.relative_to(JOBS)), ast.parse(path.read_text(encoding="utf-8"))


def test_all_that_we_override_is_in_the_table() -> None:
    named = {name.rpartition(":")[2] for name in CONTRACT}
    for ours, theirs in OURS.items():
        inherited = {name for each in theirs.__mro__[:-1] for name in vars(each)} | {"__init__"}
        own = set(vars(ours)) & inherited - CONSTANTS
        own -= {name for name in own if name.startswith("__") and name != "__init__"}
        missing = {name for name in own if f"{theirs.__name__}.{name}" not in named}
        assert not missing - ATTRIBUTES.keys(), f"{ours.__name__} overrides more of mrjob: add it to the table"


def test_all_private_parts_that_we_use_are_in_the_table() -> None:
    named = {name.rpartition(":")[2].rpartition(".")[2] for name in CONTRACT} | ATTRIBUTES.keys()
    theirs = {name for kind in OURS.values() for each in kind.__mro__[:-1] for name in vars(each)}
    theirs |= {"_open", "_rename"}
    for module, tree in our_modules():
        own = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in ("mrjob", "hdfs"):
                used = {alias.name for alias in node.names if alias.name.startswith("_")}
            elif isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.startswith("__"):
                used = {node.attr} & theirs - own
            else:
                continue
            assert used <= named, f"jobs/{module} uses {sorted(used)}: add it to the table"
