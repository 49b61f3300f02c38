"""cluster: an epoch on a simulated cluster with one node per shard, on a corpus whose serial epoch takes a minute.

Every shard's seconds are measured one after the other in one process, and so are those of the same number of reducers.
An epoch of the cluster takes as long as the slowest shard and the slowest reducer, plus what one process does by itself
(jobs/experiment/clock.py). Two shards check how far that can be trusted, because they can be measured: two processes
of `-r local`, which start anew and read their shard in each epoch, run one after the other for the clock, and at the
same time for the measurement.
"""

import math
import shutil
from itertools import islice
from pathlib import Path
from statistics import median

from arithmetic import spread
from bench import CONFIGS, Bench, Row
from corpora import grown, read, write
from results import Detail, Outcome, number

from perceptron_jobs.experiment.clock import epoch_seconds, inputs, mixing_seconds
from perceptron_jobs.training.run_dir import RunDir

TASK = CONFIGS / "pos.yaml"
SHARDS = (1, 25, 50)
EPOCHS = 2  # the first, which reads the shards and has rounds, is left out
SERIAL_SECONDS = 60  # what a serial epoch should take at least
FEW = 4  # replicas to find that out with: the time per token grows with the model
RESERVE = 1.3  # the time of those replicas is measured only once, when the machine may be busy
EFFICIENCY = 0.6  # of S nodes
CLOSE = 0.15  # simulated and measured


def run(bench: Bench) -> Outcome:
    sentences = list(read(bench.corpus("brown/train.txt.gz")))
    corpus, folder = bench.scratch / "cluster.txt", bench.scratch / "cluster"
    bench.say("finding out how long a serial epoch takes (not measured)")
    write(corpus, islice(grown(sentences), FEW * len(sentences)))
    _train(bench, corpus, folder, 1)
    fastest = min(map(epoch_seconds, RunDir(str(folder / "run")).written_history()[1:]))
    replicas = math.ceil(RESERVE * SERIAL_SECONDS / fastest * FEW)
    bench.say(f"{fastest:.1f} s for {FEW} x Brown, so {replicas} replicas of it")
    write(corpus, islice(grown(sentences), replicas * len(sentences)))
    simulated, mixing, shards_take, kept = {}, {}, {}, {}
    for shards in SHARDS:
        _train(bench, corpus, folder, shards)
        epochs = RunDir(str(folder / "run")).written_history()[1:]
        simulated[shards] = median(map(epoch_seconds, epochs))
        mixing[shards] = median(map(mixing_seconds, epochs))
        shards_take[shards] = [shard.seconds for epoch in epochs for shard in epoch.shards]
        kept[shards] = inputs(RunDir(str(folder / "run")).written_history())
        bench.say(f"{shards} shards: {simulated[shards]:.1f} s per epoch")
    measured, predicted, kept[2] = _two_processes(bench, corpus, folder)
    rows = [_speed_up(simulated, shards, replicas) for shards in SHARDS[1:]]
    strays = abs(predicted / measured - 1)
    check = Row("cluster", "an epoch on two nodes, -r local", "simulated, from one after the other")._replace(
        goal=f"within {100 * CLOSE:.0f} %", met=strays <= CLOSE, ours=spread([measured]), theirs=spread([predicted])
    )
    table = [
        [
            shards,
            number(simulated[shards]),
            number(simulated[1] / simulated[shards]),
            f"{number(min(shards_take[shards]))}–{number(max(shards_take[shards]))}",
            number(mixing[shards]),
        ]
        for shards in SHARDS
    ]
    header = ["shards", "s per epoch", "speed-up", "one shard, s", "mixing, s"]
    return Outcome(
        [*rows, check], [Detail("a cluster with one node per shard, simulated:", header, table)], {"inputs": kept}
    )


def _train(bench: Bench, corpus: Path, folder: Path, shards: int, *options: object) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    prepared = folder / "prepared"
    bench.perceptron("prepare", TASK, "--train", corpus, "--shards", shards, "--output", prepared, "--quiet")
    bench.train(TASK, folder / "run", EPOCHS, "--prepared", prepared, "--reducers", shards, *options)


def _two_processes(bench: Bench, corpus: Path, folder: Path) -> tuple[float, float, list]:
    """Seconds of an epoch of two processes at the same time; what the clock computes for the same two, run one after
    the other; and its inputs. Both start from the same weights, because these decide how long decoding takes."""
    in_turn = bench.scratch / "in_turn.conf"
    in_turn.write_text("runners: {local: {num_cores: 1}}\n", encoding="utf-8")
    _train(bench, corpus, folder, 2, "-r", "local", "-c", in_turn)
    alone = RunDir(str(folder / "run")).written_history()
    bench.train(TASK, folder / "run", EPOCHS, "--prepared", folder / "prepared", "--reducers", 2, "-r", "local")
    at_once = RunDir(str(folder / "run")).written_history()
    return (
        median([epoch.seconds or 0.0 for epoch in at_once[1:]]),
        median(map(epoch_seconds, alone[1:])),
        inputs(alone),
    )


def _speed_up(simulated: dict[int, float], shards: int, replicas: int) -> Row:
    times = simulated[1] / simulated[shards]
    rising = times > max(simulated[1] / simulated[fewer] for fewer in SHARDS if fewer < shards)
    wanted = f"≥ {EFFICIENCY * shards:.0f}×" if shards < max(SHARDS) else "more than with fewer"
    met = times >= EFFICIENCY * shards if shards < max(SHARDS) else rising
    return Row("cluster", f"an epoch on {shards} simulated nodes ({replicas} × Brown)", "ours with 1 shard")._replace(
        goal=wanted,
        met=met,
        ours=spread([simulated[shards]]),
        theirs=spread([simulated[1]]),
        ratio=spread([times]),
        note="the clock is explained in jobs/experiment/clock.py; each shard was measured by itself",
    )
