"""Jobs on Amazon EMR: mrjob's own runner, with one cluster for all the jobs of a command.

The cluster starts with the first job and ends with the command, whether that succeeds or fails. If the command is
killed, the cluster ends by itself after `max_mins_idle` minutes without work. A cluster is left running if it was there
before (`--cluster-id`), or if it is to stay for the next command (`pool_clusters`); it ends when it is idle, too. The
nodes get the product by `bootstrap`.
"""

import contextlib
import logging
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Optional

from mrjob.conf import combine_dicts, load_opts_from_mrjob_conf
from mrjob.emr import EMRJobRunner
from mrjob.fs.s3 import _endpoint_url

from perceptron_core.errors import UserError
from perceptron_jobs.engines.errors import JobFailed
from perceptron_jobs.engines.private import PrivateFolder
from perceptron_jobs.storage.s3 import AWS_ERRORS, boto3, connect_by, plainly

RELEASE = "7.5.0"
IDLE_SECONDS = (60, 7 * 24 * 3600)  # what EMR accepts
NO_PRODUCT = (
    "a new EMR cluster does not have mr-perceptron: let the mrjob configuration install its wheel by `bootstrap` "
    "(configs/mrjob.emr.conf shows how), or name a cluster that has it by --cluster-id"
)
CONSOLE = "https://console.aws.amazon.com/emr/home?region={region}#/clusterDetails/{cluster}"
UNFINISHED = ("PENDING", "CANCEL_PENDING", "RUNNING")  # states of a step

log = logging.getLogger("perceptron.emr")


def configured(conf: Optional[str]) -> dict[str, Any]:
    """What the mrjob configuration says about EMR; a file overrides those that it includes."""
    options: dict[str, Any] = {}
    for _, values in load_opts_from_mrjob_conf("emr", conf):
        options.update(values)
    return options


def connect_storage(conf: Optional[str]) -> None:
    """Reach s3:// paths with the same endpoint and credentials as the jobs' own files."""
    options = configured(conf)
    names = ("aws_access_key_id", "aws_secret_access_key", "aws_session_token")
    connect_by(
        endpoint_url=_endpoint_url(options.get("s3_endpoint")),
        region_name=options.get("region"),
        **{name: options.get(name) for name in names},
    )


def uploads(conf: Optional[str]) -> str:
    """The folder to which files of this machine are copied, so that the nodes can read them."""
    folder = configured(conf).get("cloud_tmp_dir")
    if not folder:
        raise UserError(
            "the nodes of EMR cannot read files of this machine; put them on S3 and name them by s3://, "
            "or set `cloud_tmp_dir` in the mrjob configuration to a folder on S3 for copies of them"
        )
    return f"{folder.rstrip('/')}/uploads"


@contextmanager
def _said_plainly() -> Iterator[None]:
    with plainly("EMR refused"):
        try:
            yield
        except OSError as error:  # what mrjob raises for input that is not there
            raise UserError(f"the job cannot start: {error}") from error


class EmrRunner(PrivateFolder, EMRJobRunner):
    """mrjob's EMR runner, with today's defaults, EMR's own idle termination, and failures explained in a sentence."""

    def __init__(self, **options: Any) -> None:
        with _said_plainly():
            super().__init__(**options)
        self._cluster_id: Optional[str]
        self._logged_state = ""  # of the cluster, while it starts

    @classmethod
    def _default_opts(cls) -> dict[str, Any]:
        ours = {
            "applications": ["Hadoop"],
            "bootstrap_mrjob": False,  # it is installed with the product's wheel
            "check_cluster_every": 10,
            "cloud_fs_sync_secs": 0,  # S3 has been consistent since 2020
            "image_version": RELEASE,
            "region": boto3.Session().region_name,
        }
        return combine_dicts(super()._default_opts(), ours)

    def _parse_bootstrap(self) -> list[Any]:
        """Nothing for a cluster that is there already: mrjob would send the wheel again with every epoch."""
        return [] if self._opts["cluster_id"] else super()._parse_bootstrap()

    def _cmdenv(self) -> dict[str, str]:
        """Tasks read the corpus from the same endpoint as this process."""
        endpoint = _endpoint_url(self._opts["s3_endpoint"])
        return {**({"AWS_ENDPOINT_URL_S3": endpoint} if endpoint else {}), **super()._cmdenv()}

    def _create_cluster(self, persistent: bool = False) -> str:
        """In a thread, so that no interrupt comes between the start of a cluster and the moment its id is known."""
        if not any(self._opts[name] for name in ("bootstrap", "bootstrap_actions", "image_id", "docker_image")):
            raise UserError(NO_PRODUCT)
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(super()._create_cluster, persistent).result()

    def _add_tags(self, tags: dict[str, str], cluster_id: str) -> None:
        """mrjob does this first with a new cluster; if it fails, the cluster has to be ended like any other."""
        self._cluster_id = cluster_id
        super()._add_tags(tags, cluster_id)

    def _cluster_kwargs(self, persistent: bool = False) -> dict[str, Any]:
        """EMR's own idle termination, instead of mrjob's script, which cannot see waiting steps."""
        wanted = super()._cluster_kwargs(persistent)
        actions = wanted["BootstrapActions"]
        wanted["BootstrapActions"] = [action for action in actions if action["Name"] != "idle timeout"]
        least, most = IDLE_SECONDS
        idle = min(max(int(self._opts["max_mins_idle"] * 60), least), most)
        return {**wanted, "AutoTerminationPolicy": {"IdleTimeout": idle}}

    def get_hadoop_version(self) -> str:
        """Decides the names of the jobs' properties; a cluster that is still starting may not tell it yet."""
        return super().get_hadoop_version() or "3.0.0"

    # ------------------------------------------------------------ the cluster of a command

    def find_or_create(self) -> None:
        """The cluster that was named, a free one of the pool, or a new one."""
        with _said_plainly():
            if self._cluster_id is None and self._opts["pool_clusters"]:
                self._cluster_id, _ = self._find_cluster()
            if self._cluster_id is None:
                self.make_persistent_cluster()
        address = CONSOLE.format(region=self._opts["region"], cluster=self._cluster_id)
        log.info("jobs run on the EMR cluster %s, which can be watched at %s", self._cluster_id, address)

    def leave(self) -> None:
        """End the cluster, if it was started for this command; the files it was started with go after it."""
        if self._opts["cluster_id"] or self._opts["pool_clusters"]:
            self.cleanup(mode=["LOCAL_TMP"])
            return
        cluster, self._cluster_id = self._cluster_id, None  # mrjob's clean-up would be silent if it cannot end it
        if cluster:
            try:
                self.make_emr_client().terminate_job_flows(JobFlowIds=[cluster])
            except AWS_ERRORS as error:
                idle = f"EMR does so after {self._opts['max_mins_idle']:g} minutes without work"
                log.error("the EMR cluster %s could not be ended: %s; end it by hand (%s)", cluster, error, idle)
        self.cleanup(mode=["LOCAL_TMP", "CLOUD_TMP"])

    # ------------------------------------------------------------ one job

    def on_state(self, state: str) -> None:
        """Called with the state of the step."""

    def run(self) -> None:
        with _said_plainly():
            super().run()

    def _wait_for_step_to_complete(self, step_id: str, step_num: Optional[int] = None) -> None:
        """Look at the step until it has ended. mrjob would also look for logs and open ssh tunnels."""
        client = self.make_emr_client()
        try:
            while True:
                step = client.describe_step(ClusterId=self._cluster_id, StepId=step_id)["Step"]["Status"]
                if step["State"] == "COMPLETED":
                    return
                cluster = client.describe_cluster(ClusterId=self._cluster_id)["Cluster"]["Status"]
                if step["State"] not in UNFINISHED or cluster["State"].startswith("TERMINATED"):
                    raise JobFailed(self._why(step_id, step, cluster))
                self._tell(step["State"], cluster["State"])
                time.sleep(self._opts["check_cluster_every"])
        except KeyboardInterrupt:
            with contextlib.suppress(*AWS_ERRORS):
                client.cancel_steps(
                    ClusterId=self._cluster_id, StepIds=[step_id], StepCancellationOption="TERMINATE_PROCESS"
                )
            raise

    def _tell(self, step: str, cluster: str) -> None:
        """Report the step's state as progress; while the cluster starts, which takes minutes, also log it."""
        self.on_state(step if step != "PENDING" else f"PENDING, cluster {cluster}")
        if cluster in ("STARTING", "BOOTSTRAPPING") and cluster != self._logged_state:
            self._logged_state = cluster
            log.info("EMR cluster %s: %s", self._cluster_id, cluster)

    def _why(self, step_id: str, step: dict[str, Any], cluster: dict[str, Any]) -> str:
        """Everything that EMR says about a step that did not complete."""
        details = step.get("FailureDetails", {})
        said = [details.get("Reason"), details.get("Message")]
        said += [status.get("StateChangeReason", {}).get("Message") for status in (step, cluster)]
        reasons = "; ".join(dict.fromkeys(text.strip() for text in said if text)) or "EMR gives no reason"
        logs = details.get("LogFile") or f"{self._s3_log_dir()}steps/{step_id}/"
        return (
            f"step {step_id} on the EMR cluster {self._cluster_id} ({cluster['State']}) did not complete "
            f"({step['State']}): {reasons}. Its logs appear in {logs} within minutes; what was published before it "
            "is complete, and the same command continues from there"
        )


class EmrCluster:
    """The cluster of a command, as a context: it starts when its id is first asked for, and ends with the block."""

    def __init__(self, conf: Optional[str], named: Optional[str] = None) -> None:
        self.conf, self.named = conf, named
        self._runner: Optional[EmrRunner] = None

    def __enter__(self) -> "EmrCluster":
        return self

    def __exit__(self, *failure: object) -> None:
        if self._runner is not None:
            self._runner.leave()

    def id(self) -> str:
        if self._runner is None:
            self._runner = EmrRunner(conf_paths=[self.conf] if self.conf else None, cluster_id=self.named)
            self._runner.find_or_create()
        return self._runner.get_cluster_id()
