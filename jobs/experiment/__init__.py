"""Experiments as data: a grid of trainings described in YAML, run, and shown as tables and figures.

    definition   the YAML file → the cells of the grid
    corpora      what the cells train on: cut to size, dealt to shards, prepared once for all that share it
    deals        ways to deal sentences to shards that are not alike
    grid         `perceptron prepare` and `perceptron train` as processes, several at a time
    clock        how long an epoch would take on a cluster with a node a shard
    results      a cell's history, and what is measured in it
    tables       Markdown and CSV
    figure       which results are which line of which panel
    chart, png   line charts in SVG, and their PNG
    run          all of it, in order

A cell is an ordinary run directory, so what was begun is continued, and what is done stays as it is.
"""
