"""What the JSON files of a run and of a prepared corpus hold, as classes.

    epoch_entry        one epoch of a run: stats.json, history.jsonl
    run_config         what decides a run's weights: config.json
    prepared_manifest  a prepared corpus: prepared.json

Each class reads and writes its record (`from_record`, `record`); where the files are is the business of others.
"""
