"""From sentences to a shard's lines and back: encoding, building, writing, reading, and damage."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perceptron_core.corpus import Sentence
from perceptron_core.errors import UserError
from perceptron_core.features.encoded import Encoded
from perceptron_core.features.encoding import Encoder
from perceptron_core.features.feature_set import extracted_key, template_key
from perceptron_core.features.keys import FeatureKeys
from perceptron_core.settings import Settings
from perceptron_core.shards import records as shards_module
from perceptron_core.shards.builder import BUCKET_BYTES, PieceEncoder, ShardBuilder, in_chunks
from perceptron_core.task import Task
from perceptron_core.task_file import read_task
from perceptron_core.training.epoch import EpochPlan, ShardEpoch
from perceptron_core.weights.rows import empty
from perceptron_core.wire import DamagedRecord, decode_line, encode_line

LABELS = ["a", "дело", "имя", "名"]
TASK = """
columns: [word, pos, label]
predict: label
features: ["word[-1..1]", "prefix3[0]", "pos[-2] & word[0]", "label[-1] & pos[0]"]
"""
EXTRACTOR = '''
def neighbours(sentence, position):
    """Nothing for the first token, so that some tokens have no such feature."""
    return [f"word {sentence[i][0]}" for i in range(position)][-2:]
'''


def make_task(folder: Path, text: str = TASK) -> Task:
    (folder / "task.yaml").write_text(text, encoding="utf-8")
    return read_task(str(folder / "task.yaml"))


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Task:
    return make_task(tmp_path_factory.mktemp("task"))


@pytest.fixture(scope="module")
def extracting(tmp_path_factory: pytest.TempPathFactory) -> Task:
    folder = tmp_path_factory.mktemp("extracting")
    (folder / "features.py").write_text(EXTRACTOR, encoding="utf-8")
    return make_task(folder, TASK + "python: features.py\nextractor: neighbours\n")


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards_module, "BLOCK_TOKENS", 12)


def corpus(seed: int, sentences: int) -> list[Sentence]:
    random = np.random.default_rng(seed)
    words = ["Иван", "пошёл", "в", "北京", "大学", "", "x", "да", "a\udc80", *(f"слово{i}" for i in range(30))]
    made = []
    for line in range(sentences):
        chosen = random.integers(0, len(words), int(random.integers(1, 7)))
        pos = [f"P{i % 3}" for i in chosen]
        labels = [LABELS[i % 4] for i in chosen]
        made.append(Sentence(([words[i] for i in chosen], pos), (labels,), line + 1))
    return made


def piece_records(
    task: Task, files: Sequence[Sequence[Sentence]], shards: int, cuts: Sequence[int] = (), chunk: int = 4096
) -> Iterator[tuple[int, Any]]:
    """(shard, record) of all mappers, each file cut before the sentences with these ordinals."""
    for number, sentences in enumerate(files):
        edges = sorted({0, len(sentences), *(cut for cut in cuts if cut < len(sentences))})
        for first, last in zip(edges, edges[1:]):
            encoder = PieceEncoder(task.encoder(), 7, number, first, shards)
            for some in in_chunks(iter(sentences[first:last]), chunk):
                yield from encoder.encode(some)


def build(task: Task, records: Sequence[Any], shard: int, shards: int, bucket_bytes: int = BUCKET_BYTES) -> list[bytes]:
    """The lines of a shard."""
    builder = ShardBuilder(task.features, task.layout, bucket_bytes)
    for record in records:
        builder.add(record)
    identity = {"shard": shard, "shards": shards, "seed": 7, "features": task.fingerprint}
    return [encode_line(*record) for record in builder.finish(identity)]


def prepare(task: Task, files: Sequence[Sequence[Sentence]], shards: int, **how: Any) -> list[list[bytes]]:
    records = list(piece_records(task, files, shards, **how))
    return [build(task, [r for to, r in records if to == shard], shard, shards) for shard in range(shards)]


def read(task: Task, lines: Sequence[bytes]) -> tuple[dict[str, Any], list[tuple[list[str], list[Any]]]]:
    """A shard's header and, for each sentence, its labels and its tokens' keys."""
    structure = task.structure("viterbi")
    reader, sentences = task.shard_reader(LABELS), []
    for line in lines:
        encoded = reader.take(*decode_line(line))
        if encoded is not None:
            keys = token_keys(structure.keys(encoded, reader.tables(), reader.label_hashes))
            begin = 0
            for length in encoded.lengths.tolist():
                labels = [LABELS[i] for i in encoded.labels[begin : begin + length]]
                sentences.append((labels, keys[begin : begin + length]))
                begin += length
    return reader.finish(), sentences


def token_keys(keys: FeatureKeys) -> list[tuple[list[int], list[int]]]:
    own, pairs = ([group.keys[a:b].tolist() for a, b in zip(group.starts, group.starts[1:])] for group in keys.groups)
    assert len(own) == len(pairs)
    return list(zip(own, pairs))


def keys_of(task: Task, encoder: Encoder, encoded: Encoded) -> FeatureKeys:
    return task.structure("viterbi").keys(encoded, encoder.type_tables(), np.zeros(0, np.uint64))


def encoded_directly(task: Task, sentences: Sequence[Sentence]) -> list[tuple[list[str], list[Any]]]:
    found = []
    for sentence in sentences:
        encoder = task.encoder()
        found.append((list(sentence.labels or ()), token_keys(keys_of(task, encoder, encoder.encode([sentence])))))
    return found


# ---------------------------------------------------------------- round trips


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("shards", [1, 3, 50])
@pytest.mark.parametrize("kind", ["task", "extracting"])
def test_a_shard_gives_the_keys_of_its_sentences(request: pytest.FixtureRequest, kind: str, shards: int) -> None:
    task = request.getfixturevalue(kind)
    files = [corpus(1, 41), corpus(2, 5)]
    found = []
    for number, lines in enumerate(prepare(task, files, shards)):
        header, sentences = read(task, lines)
        assert (header["shard"], header["shards"], header["seed"]) == (number, shards, 7)
        assert header["labels"] == sorted({label for labels, _ in sentences for label in labels})
        found += sentences
    assert shards > 1 or len(lines) > 8  # one shard of several blocks
    assert sorted(found) == sorted(encoded_directly(task, files[0] + files[1]))  # each sentence exactly once


def test_keys_are_those_of_the_features_by_name(extracting: Task) -> None:
    lines = prepare(extracting, [[Sentence((["Иван", "北京"], ["P0", "P1"]), (["имя", "名"],), 1)]], 1)[0]
    [(labels, [first, second])] = read(extracting, lines)[1]
    before, here, after, prefix, joined, bias = (t for t in extracting.features.templates if not t.bigram)
    [bigram] = (t for t in extracting.features.templates if t.bigram)
    assert labels == ["имя", "名"]
    assert first[0] == [
        template_key(before, ["<-1>"]),
        template_key(here, ["Иван"]),
        template_key(after, ["北京"]),
        template_key(prefix, ["Ива"]),
        template_key(joined, ["<-2>", "Иван"]),
        template_key(bias, []),
    ]
    # 北京 is too short for a prefix of three; the extractor's feature comes last
    assert second[0] == [
        template_key(before, ["Иван"]),
        template_key(here, ["北京"]),
        template_key(after, ["<+1>"]),
        template_key(joined, ["<-1>", "北京"]),
        template_key(bias, []),
        extracted_key("word Иван"),
    ]
    assert second[1] == [template_key(bigram, ["P1"])]


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("kind", ["task", "extracting"])
@pytest.mark.parametrize("cuts, chunk", [((10,), 4096), ((1, 2, 30), 3), ((), 1), ((25, 40), 7)])
def test_the_pieces_of_a_corpus_leave_no_trace(
    request: pytest.FixtureRequest, kind: str, cuts: Sequence[int], chunk: int
) -> None:
    task = request.getfixturevalue(kind)
    files = [corpus(3, 41), corpus(4, 20)]
    assert prepare(task, files, 3, cuts=cuts, chunk=chunk) == prepare(task, files, 3)


def test_the_order_of_arrival_leaves_no_trace(task: Task) -> None:
    records = list(piece_records(task, [corpus(3, 30), corpus(4, 20)], 2, cuts=(9, 17), chunk=4))
    mine = [record for shard, record in records if shard == 1]
    shuffled = [mine[i] for i in np.random.default_rng(0).permutation(len(mine))]
    assert shuffled != mine and build(task, shuffled, 1, 2) == build(task, mine, 1, 2)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("kind", ["task", "extracting"])
@pytest.mark.parametrize("bucket_bytes", [1, 700, 5000])
@pytest.mark.parametrize("room", [0, 1 << 20])
def test_shuffling_on_disk_leaves_no_trace(
    request: pytest.FixtureRequest, kind: str, bucket_bytes: int, room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = request.getfixturevalue(kind)
    records = list(piece_records(task, [corpus(3, 41), corpus(4, 20)], 1, cuts=(9, 17), chunk=4))
    whole = build(task, [record for _, record in records], 0, 1)
    monkeypatch.setattr("perceptron_core.shards.spool.ROOM", room)
    assert build(task, [record for _, record in records], 0, 1, bucket_bytes) == whole


def test_an_encoder_that_knows_too_much_begins_a_piece(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    sentences = corpus(3, 60)
    expected = prepare(task, [sentences], 2)
    monkeypatch.setattr("perceptron_core.shards.builder.ENCODER_BYTES", 1000)
    encoder, begun, records = PieceEncoder(task.encoder(), 7, 0, 0, 2), set(), []
    for chunk in in_chunks(iter(sentences), 3):
        encoder = encoder.renewed(task.encoder)
        begun.add(encoder.first)
        records += encoder.encode(chunk)
    assert len(begun) > 3
    assert [build(task, [r for to, r in records if to == shard], shard, 2) for shard in range(2)] == expected


def test_another_seed_deals_otherwise(task: Task) -> None:
    sentences = corpus(1, 40)
    one, other = (
        [r["lengths"].tolist() for _, r in PieceEncoder(task.encoder(), seed, 0, 0, 2).encode(sentences)]
        for seed in (1, 2)
    )
    assert one != other


def test_a_long_sentence_and_an_empty_word(task: Task) -> None:
    words = [f"w{i % 700}" if i % 5 else "" for i in range(10_000)]
    long = Sentence((words, ["P"] * 10_000), (["a"] * 10_000,), 1)
    lines = prepare(task, [[long, *corpus(5, 3)]], 1)[0]
    sentences = read(task, lines)[1]
    assert sorted(len(labels) for labels, _ in sentences)[-1] == 10_000
    assert sorted(sentences) == sorted(encoded_directly(task, [long, *corpus(5, 3)]))


def test_a_shard_without_sentences_is_valid(task: Task, extracting: Task) -> None:
    for some in (task, extracting):
        lines = build(some, [], 4, 5)
        assert [decode_line(line)[0] for line in lines] == ["header", "trailer"]
        header, sentences = read(some, lines)
        assert (header["shard"], header["labels"], sentences) == (4, [], [])


# ---------------------------------------------------------------- damage


@pytest.fixture
def lines(task: Task, small_blocks: None) -> list[bytes]:
    return prepare(task, [corpus(6, 30)], 1)[0]


def train(task: Task, lines: Sequence[bytes]) -> None:
    """What a training task does with a shard."""
    epoch = ShardEpoch(EpochPlan(task, LABELS, Settings()), empty(weight="f4"))
    for line in lines:
        epoch.take(*decode_line(line))
    epoch.finish()


def test_a_whole_shard_trains(task: Task, lines: list[bytes]) -> None:
    train(task, lines)


def test_a_cut_shard_is_refused(task: Task, lines: list[bytes]) -> None:
    for end in range(len(lines)):
        with pytest.raises(DamagedRecord, match="ends before its trailer"):
            train(task, lines[:end])


def test_a_missing_record_is_refused(task: Task, lines: list[bytes]) -> None:
    for missing in range(len(lines)):
        with pytest.raises(DamagedRecord, match="prepare the corpus again"):
            train(task, lines[:missing] + lines[missing + 1 :])


def test_a_doubled_record_is_refused(task: Task, lines: list[bytes]) -> None:
    for doubled in range(len(lines)):
        with pytest.raises(DamagedRecord):
            train(task, [*lines[: doubled + 1], *lines[doubled:]])


def test_two_shards_in_one_task_are_refused(task: Task, lines: list[bytes]) -> None:
    with pytest.raises(DamagedRecord, match="follows the trailer"):
        train(task, lines + lines)
    with pytest.raises(DamagedRecord, match="more than one shard"):
        train(task, lines[:-1] + lines)


@pytest.mark.parametrize("bit", [0x01, 0x20, 0x80])
def test_an_altered_line_is_refused(task: Task, lines: list[bytes], bit: int) -> None:
    for number in (0, 1, len(lines) - 1):
        line = lines[number]
        for at in range(0, len(line), 7 if number == 1 else 1):
            altered = bytearray(line)
            altered[at] ^= bit
            with pytest.raises(DamagedRecord):
                train(task, [*lines[:number], bytes(altered), *lines[number + 1 :]])


@pytest.mark.parametrize(
    "change, words",
    [
        ({"version": 1}, "version 1, but this program reads version 2"),
        ({"features": "0123456789abcdef"}, "other features"),
        ({"labels": ["a", "新"]}, "does not know: 新"),
    ],
)
def test_a_foreign_shard_is_refused(task: Task, lines: list[bytes], change: dict[str, Any], words: str) -> None:
    _, header = decode_line(lines[0])
    with pytest.raises(UserError, match=words):
        train(task, [encode_line("header", {**header, **change}), *lines[1:]])


def test_a_shard_of_other_templates_is_refused(task: Task, lines: list[bytes], tmp_path: Path) -> None:
    with pytest.raises(UserError, match="other features; prepare the corpus again"):
        train(make_task(tmp_path, TASK.replace("prefix3", "prefix2")), lines)


def test_an_unknown_record_is_refused(task: Task, lines: list[bytes]) -> None:
    with pytest.raises(DamagedRecord, match="no record of the kind 'footer'"):
        train(task, [lines[0], encode_line("footer", {})])


def test_a_sentence_without_labels_can_be_encoded(task: Task) -> None:
    encoder = task.encoder()
    encoded = encoder.encode([Sentence((["Иван"], ["P0"]), None, 1)])
    assert (encoded.lengths.tolist(), encoded.labels.tolist()) == ([1], [])
    assert len(keys_of(task, encoder, encoded).keys) == 6
