"""Streams: decisions as symbols arrive (`monitor`), by a machine that is followed (`follower`) and, where the stream
drifts, given up and learnt anew (`learner`)."""
