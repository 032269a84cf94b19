"""Streams: decisions as symbols arrive (`monitor`), by a machine that is followed (`follower`) and, where the stream
drifts, given up and learnt anew (`learner`)."""

from typing import TYPE_CHECKING

from ..support.rooms import modules_of

if not TYPE_CHECKING:
    __getattr__ = modules_of(__name__)
