"""A small generated treebank: a verb with subjects, objects and modifiers, some of them far away or crossing."""

import random

WORDS = {
    "VERB": ("saw", "спит", "喜欢", "flies"),
    "NOUN": ("time", "кот", "时间", "x-ray", "naïveté"),
    "ADJ": ("red", "старый", "大"),
    "DET": ("the", "эта"),
    "ADV": ("often", "вчера"),
}
FEATS = {"NOUN": ("Case=Nom|Number=Sing", "Case=Acc|Number=Plur", "_"), "VERB": ("Number[abs]=Sing", "_")}


def treebank(seed: int, sentences: int = 30) -> str:
    """CoNLL-U with comments, a multiword token and an empty node here and there."""
    choose = random.Random(seed)
    return "".join(_sentence(choose, number) for number in range(sentences))


def _sentence(choose: random.Random, number: int) -> str:
    words: list[tuple[str, int, str]] = []  # tag, head (by place), relation
    verb = choose.randint(0, 2)
    for _ in range(verb):
        words.append((choose.choice(("NOUN", "ADV")), -1, "nsubj"))
    words.append(("VERB", -2, "root"))
    for _ in range(choose.randint(0, 3)):
        words.append((choose.choice(("NOUN", "ADJ", "DET", "ADV")), -1, "obj"))
    lines = [f"# sent_id = {number}"]
    if choose.random() < 0.2 and len(words) > 1:
        lines.append("1-2\tboth\t_\t_\t_\t_\t_\t_\t_\t_")
    for place, (tag, head, relation) in enumerate(words):
        if head == -1:
            head = verb if choose.random() < 0.8 else choose.choice([p for p in range(len(words)) if p != place])
            if words[head][1] == -1:  # only the verb has children, unless a word leans on a later one
                head = verb if head < place else head
            if _leads_back(words, head, place):
                head = verb
            relation = {"ADV": "advmod", "ADJ": "amod", "DET": "det"}.get(tag, relation)
            words[place] = (tag, head, relation)
        form = choose.choice(WORDS[tag])
        feats = choose.choice(FEATS.get(tag, ("_",)))
        number_of_head = 0 if head == -2 else head + 1
        lines.append(f"{place + 1}\t{form}\t{form.lower()}\t{tag}\t_\t{feats}\t{number_of_head}\t{relation}\t_\t_")
    if choose.random() < 0.2:
        lines.append(f"{len(words)}.1\tempty\t_\t_\t_\t_\t_\t_\t_\t_")
    return "\n".join(lines) + "\n\n"


def _leads_back(words: list[tuple[str, int, str]], head: int, place: int) -> bool:
    """Whether the way from `head` to the root would come through `place`."""
    for _ in words:
        if head == place:
            return True
        if words[head][1] < 0:
            return False
        head = words[head][1]
    return True
