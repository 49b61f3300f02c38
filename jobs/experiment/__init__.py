"""Experiments as data: a grid of trainings described in YAML, run, and shown as tables and figures.

    definition   the YAML file → the cells of the grid
    cell         one of them: what it is asked for, and its name
    corpora      what the cells train on: cut to size, dealt to shards, prepared once for all cells that share it
    makers       corpora that are made from others: texts with their genres, from a treebank
    uneven       ways to deal sentences to shards unevenly
    grid         `perceptron prepare` and `perceptron train` as processes, several at a time
    clock        how long an epoch would take on a cluster with one node per shard
    team         how long an epoch would take if several processors decoded its minibatches together
    decoding     the decoding times of single sentences, for `team`
    model_size   how many features the model of a cell has, and how large its file is
    results      a cell's history, and what is measured in it
    tables       Markdown and CSV
    figure       which results are which line of which panel
    png          the PNG of a figure
    run          all of it, in order

A cell is an ordinary run directory, so what was begun is continued, and what is done stays as it is.
"""
