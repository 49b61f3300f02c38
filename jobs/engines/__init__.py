"""Where jobs run: mrjob's inline and local runners, Hadoop, EMR."""
