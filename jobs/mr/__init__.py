"""The MapReduce jobs, one class per file.

    prepare          MRPrepare          a corpus becomes encoded shards
    count_sentences  MRCountSentences   the sentences of each piece of a file, before it is prepared
    count_features   MRCountFeatures    on how many tokens each feature occurs, to leave out rare ones
    train_epoch      MRTrainEpoch       one epoch on every shard, and the mixing of their weights
    count_shards     MRCountShards      in how many shards each feature occurs, for scaled mixing
    sum_statistics   MRSumStatistics    what naive Bayes and Rocchio count, summed over the shards
    predict          MRPredict          files become tagged files
    evaluate         MREvaluate         files with gold labels become scores

job and shard_job are their base classes, protocol is the format of their records.
"""
