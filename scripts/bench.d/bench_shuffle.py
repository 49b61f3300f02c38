"""shuffle: bytes from mappers to reducers each epoch, CoNLL-2003, 10 shards, against all weights of every shard.

Training is the product's own, and `history.jsonl` says how much was shuffled. What every shard would have sent with all
its non-zero weights is computed by going through the same epochs again.
"""

from arithmetic import paired_ratios, spread
from bench import CONFIGS, Bench, Goal, Row, history, report
from results import Detail, Outcome, number

SHARDS, EPOCHS = 10, 15
DECIDING_EPOCH = 5
GOAL = Goal(at_most=1 / 20)
HEADER = ["epoch", "shuffled, MB", "all weights, MB", "ratio", "all weights of the shard's features, MB", "ratio"]


def run(bench: Bench) -> Outcome:
    corpus, prepared = bench.corpus("conll2003/eng.train.gz"), bench.scratch / "shuffle-prepared"
    task = CONFIGS / "ner.yaml"
    bench.perceptron("prepare", task, "--train", corpus, "--shards", SHARDS, "--output", prepared, "--quiet")
    rows, details, raw = [], [], {}
    for mixing in ("uniform", "row"):
        bench.say(f"{mixing} mixing, {EPOCHS} epochs")
        run_dir = bench.scratch / f"shuffle-{mixing}"
        bench.train(task, run_dir, EPOCHS, "--prepared", prepared, "--mixing", mixing)
        bench.say("the same epochs again, for the size of all weights")
        again = report(bench.process("shuffle_process", prepared, task, EPOCHS, mixing))
        sent = [epoch["shuffled"] for epoch in history(run_dir)]
        assert again["errors"] == [epoch["errors"] for epoch in history(run_dir)], "these are other epochs"
        raw[mixing] = {"shuffled": sent, **again}
        ratio = paired_ratios([sent[DECIDING_EPOCH - 1]], [again["all"][DECIDING_EPOCH - 1]])
        rows.append(
            Row(
                "shuffle",
                f"bytes in epoch {DECIDING_EPOCH}, CoNLL-2003, {SHARDS} shards, {mixing} mixing",
                "all weights",
                goal="≤ 1/20",
                met=GOAL.met(ratio.median),
                unit="MB",
                ours=spread([sent[DECIDING_EPOCH - 1]]),
                theirs=spread([again["all"][DECIDING_EPOCH - 1]]),
                ratio=ratio,
            )
        )
        lines = [
            [epoch, number(ours / 2**20), number(every / 2**20), f"1/{every / ours:.1f}"]
            + [number(own / 2**20), f"1/{own / ours:.1f}"]
            for epoch, (ours, every, own) in enumerate(zip(sent, again["all"], again["own"]), start=1)
        ]
        details.append(Detail(f"shuffle, {mixing} mixing, {SHARDS} shards:", HEADER, lines))
    return Outcome(rows, details, raw)
