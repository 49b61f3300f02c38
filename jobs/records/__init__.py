"""What the JSON files of a run and of a prepared corpus hold, as classes.

    epoch_entry        one epoch of a run: stats.json, history.jsonl
    run_config         what decides a run's weights: config.json
    prepared_manifest  a prepared corpus: prepared.json
    mistakes           a model's confusions: mistakes.json

Each class reads and writes its record (`from_record`, `record`). A file may come from anybody, so its record is checked
against the schema beside the class before it is read; where the files are is the business of others.
"""
