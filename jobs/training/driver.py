"""The training loop: an epoch on every shard, mix, publish, stop? It continues after a crash.

    w = 0, or another model's weights
    for n in 1 … N:                                     # McDonald et al. 2010, Fig. 3
        MRTrainEpoch(shards, w)  →  the mixed weights   # mappers: one epoch per shard; reducers: mix by feature
        publish epoch n; stop?                          # the first epoch may have rounds: perceptron_core/training

All that the loop needs to continue is in the run directory, so a run that was killed continues after its last complete
epoch and ends with the same bytes. The loop tells a listener what happens, and knows neither terminal nor report.
"""

import os
import tempfile
import time
from typing import Any, Optional

from perceptron_core.errors import UserError
from perceptron_core.evaluation.held_out import HeldOut, read_held_out
from perceptron_core.evaluation.predictor import choose_weights
from perceptron_core.learners import ONE_PASS
from perceptron_core.training import resident as residency
from perceptron_core.training.mixing import FALL_BACK_AFTER, SCALED, check_mixing, mixing_now
from perceptron_core.training.rounds import WHOLE, RoundPart, parts
from perceptron_core.training.standing import Standing
from perceptron_core.training.stopping import best_epoch, reason_to_stop
from perceptron_core.weights.model_file import Model
from perceptron_core.weights.records import from_record
from perceptron_core.weights.relevance import relevant
from perceptron_core.weights.rows import Rows, concatenate
from perceptron_core.wire import encode_line
from perceptron_jobs.corpora.first_look import remark_on_labels
from perceptron_jobs.corpora.prepared import blaming_damage
from perceptron_jobs.engines.over_shards import run_over_shards
from perceptron_jobs.mr.train_epoch import MIXED, RESIDENT, MRTrainEpoch
from perceptron_jobs.records.epoch_entry import DevScores, History, as_records
from perceptron_jobs.storage import join, open_file
from perceptron_jobs.storage.base import NotOurs
from perceptron_jobs.training import one_pass
from perceptron_jobs.training.configuration import configure, find_corpus
from perceptron_jobs.training.job_record import JobRecord, counted, timed
from perceptron_jobs.training.open_run import OpenRun
from perceptron_jobs.training.plan import Listener, TrainingPlan
from perceptron_jobs.training.run_dir import RunDir
from perceptron_jobs.training.shard_counts import count_shards_of_features
from perceptron_jobs.training.whole import chosen_model, drop_damaged


def train(plan: TrainingPlan, listener: Listener) -> RunDir:
    """Train, or continue to train, in the plan's run directory."""
    plan.settings.check()
    structure = plan.task.structure(plan.settings.decoder)
    structure.check(plan.settings)
    structure.check_mixing(plan.mixing)
    plan = plan._replace(task=plan.task.for_decoder(plan.settings.decoder))
    check_mixing(plan.mixing, plan.settings.learner)
    plan = one_pass.plan_of_one_pass(plan)
    # First, so that a mistake in it is found before anything is written.
    held_out = read_held_out(plan.task, plan.settings.decoder, plan.dev, open_file) if plan.dev else None
    run = RunDir(plan.run_dir)
    with run.opened() as is_new:
        plan = plan._replace(cluster=plan.cluster.of_run(run.path))
        for job in [] if is_new else plan.cluster.end_jobs():
            listener.note(f"ended {job}, a job of this run whose driver was killed")
        run.remove_leftovers()
        corpus = find_corpus(plan, run, listener)
        config, start = configure(plan, run, corpus)
        for remark in (corpus.prepared.remark(), remark_on_labels(plan.task, plan.train) if is_new else None):
            if remark:
                listener.note(remark)
        if plan.prepared:
            run.note_prepared(plan.prepared)
        if held_out is not None:
            unseen = sorted(set(held_out.label_names) - set(config.labels))
            if unseen:
                listener.note(f"dev has labels that training never saw: {', '.join(unseen)}; they count as wrong")
        drop_damaged(run, listener.note)
        if not run.epochs():
            run.publish(0, start, [])
        try:
            return _Training(OpenRun(plan, run, corpus.prepared, config, listener), held_out).go_on()
        finally:
            residency.clear()


class _Training:
    def __init__(self, opened: OpenRun, held_out: Optional[HeldOut]) -> None:
        self.opened, self.held_out = opened, held_out
        self.plan, self.run, self.corpus, self.config, self.listener = opened
        self.labels, self.settings = self.config.labels, self.config.training_settings()
        self.last: dict[int, Standing] = {}  # the epoch published last, which need not be read again

    def go_on(self) -> RunDir:
        """Train epoch after epoch, from the last complete one on, until there is a reason to stop."""
        epoch = self.run.epochs()[-1]
        history = self.run.history(epoch)
        self.run.tidy(history)
        if epoch:
            self.listener.note(f"continuing after epoch {epoch} of {self.run.path}")
            self._warn_of_missing_dev(history)
        if self.plan.mixing == SCALED:
            count_shards_of_features(self.opened)
        while True:
            reason = reason_to_stop(as_records(history), self.plan.stop)
            if reason:
                break
            epoch += 1
            history = self._epoch(epoch, history)
            self.listener.epoch(history[-1])
        self.listener.note(f"stopped: {reason}")
        residency.clear()
        chosen = self.last.get(self.run.chosen_epoch())
        model = chosen.model() if chosen else chosen_model(self.run)
        self.last = {}
        self.run.write_model(model)
        self._write_mistakes(model)
        self.listener.finished(self.run, self.plan.task, model)
        return self.run

    def _warn_of_missing_dev(self, history: History) -> None:
        best = best_epoch(as_records(history))
        if best is not None and self.held_out is None:
            self.listener.note(
                f"without --dev new epochs have no score, so the model stays that of epoch {best}, the best so far; "
                "give --dev as before to compare them"
            )

    def _published(self, epoch: int) -> Standing:
        """Where the training stood after the epoch."""
        return self.last.get(epoch) or self.run.standing(epoch)

    def _write_mistakes(self, model: Model) -> None:
        """What the model gets wrong on the dev set; the model is written, and stays if this fails."""
        if self.held_out is None:
            return
        try:
            which = "averaged" if "averaged" in model.rows.values else "last"
            found = self.held_out.mistakes(self.labels, self.settings, choose_weights(model, which))
            self.run.write_mistakes({"epoch": self.run.chosen_epoch(), "weights": which, **found})
        except NotOurs:
            raise
        except (UserError, OSError) as error:
            self.listener.note(f"the mistakes on the dev set could not be written: {error}")

    def _epoch(self, epoch: int, history: History) -> History:
        began, ends = time.time(), []
        jobs: list[JobRecord] = []
        mixing = mixing_now(self.plan.mixing, [entry.errors or 0 for entry in history])
        if mixing != self.plan.mixing and (not history or history[-1].mixing != mixing):
            self.listener.note(f"no fewer errors for {FALL_BACK_AFTER} epochs: {mixing} mixing from now on")
        standing = self._published(epoch - 1)
        for part in parts(self.config.rounds if epoch == 1 else 1):
            if part.number:
                self.run.write_round(part.number, standing.weights)
                ends.append(time.time())
            if self.settings.learner in ONE_PASS:
                mixed, job = one_pass.learn(self.opened)
            else:
                expected = jobs[-1].shuffled if jobs else (history[-1].shuffled or 0) if history else 0
                mixed, job = self._run_job(epoch, part, mixing, expected)
            jobs.append(job)
            share = self._examples(part) / max(1, self._examples(WHOLE)) if part.rounds > 1 else 1
            standing = standing.after(mixed, epoch, share)
        entry = counted(epoch, jobs)._replace(
            weights=len(relevant(standing.weights.rows, self.settings.min_updates).labels),
            mixing=mixing,
            runner=self.plan.cluster.runner,
        )
        scoring = time.time()
        if self.held_out is not None:
            scores = standing.score(self.held_out)
            entry = entry._replace(dev=DevScores(*scores, score=scores.deciding()))
        scored = time.time() - scoring
        published = [*history, timed(entry, jobs, began, [*ends, time.time()], scored)]
        self.run.publish(epoch, standing, published)
        self.last = {epoch: standing}
        history = [*history, timed(entry, jobs, began, [*ends, time.time()], scored)]  # now with the publication
        self.run.write_history(history)
        return history

    def _run_job(self, epoch: int, part: RoundPart, mixing: str, expected: int) -> tuple[Rows, JobRecord]:
        """The mixed weights; `expected`: about how many bytes will be shuffled."""
        inline = self.plan.cluster.runner == "inline"
        before = self.run.round_file(part.number) if part.number else join(self.run.epoch_dir(epoch - 1), "weights")
        arguments = ["--config", self.plan.cluster.file(self.run.file("config.json"))]
        arguments += ["--weights", self.plan.cluster.file(before)]
        arguments += ["--epoch", str(epoch), "--mixing", mixing]
        arguments += ["--round", str(part.number + 1), "--rounds", str(part.rounds)]
        kept = self.corpus.kept_path()
        if kept:
            arguments += ["--kept", self.plan.cluster.file(kept)]
        arguments += ["--threads", str(self.plan.threads)]
        if mixing == SCALED:
            arguments += ["--occurrences", self.plan.cluster.file(self.run.file("occurrences"))]
        if inline and self.opened.most_features() * residency.ID_BYTES <= residency.LIMIT:
            arguments.append("--keep-shards")
        done = self._show_progress(epoch, part, inline)
        with blaming_damage(self.corpus), tempfile.TemporaryDirectory() as scratch:
            inputs = [self._input(shard, scratch) for shard in self.config.chosen_shards]
            cluster = self.plan.cluster._replace(progress=done)
            output = run_over_shards(MRTrainEpoch, cluster, arguments, inputs, expected)
        residency.listen(None)
        stats = output.ranges[0]["stats"]
        assert all(record["stats"] == stats for record in output.ranges), "an epoch's ranges disagree"
        reducers = [record["worked"] for record in output.reducers]
        rows = (from_record(record["rows"], len(self.labels), MIXED) for record in output.ranges)
        mixed = concatenate(list(rows))
        return mixed, JobRecord(stats, output.shuffled(), output.ranges[0]["worked"], reducers)

    def _input(self, shard: int, scratch: str) -> str:
        """The shard's file; or, if this process has the shard in memory, a file with a line that says so."""
        name = f"{self.config.run}/{shard}"
        if self.plan.cluster.runner != "inline" or residency.find(name) is None:
            return self.plan.cluster.file(self.corpus.path(shard))
        path = os.path.join(scratch, f"resident-{shard:05d}")
        with open(path, "wb") as file:
            file.write(encode_line(RESIDENT, {"name": name}) + b"\n")
        return path

    def _examples(self, part: RoundPart) -> int:
        """The number of examples in this part of all shards."""
        unit = self.plan.task.structure(self.settings.decoder).unit
        spans = [part.span(getattr(self.corpus.shards[shard], unit)) for shard in self.config.chosen_shards]
        return sum(last - first for first, last in spans)

    def _show_progress(self, epoch: int, part: RoundPart, inline: bool) -> Any:
        """In this process examples are counted; elsewhere map tasks or percent, by the callback that is returned."""
        total = self._examples(part) * self.settings.local_epochs
        name = f"epoch {epoch}" + (f", round {part.number + 1} of {part.rounds}" if part.rounds > 1 else "")
        if not inline:
            tasks = len(self.config.chosen_shards) if self.plan.cluster.runner == "local" else 100
            self.listener.step(name, tasks)
            return lambda done, of, state="": self.listener.progress(done, state) if of == tasks else None
        self.listener.step(name, total)
        done = 0

        def report(more: int) -> None:
            nonlocal done
            done += more
            self.listener.progress(done)

        residency.listen(report)
        return lambda done, of, state="": None
