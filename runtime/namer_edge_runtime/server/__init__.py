"""A page to write on and an HTTP endpoint: one process that listens, and workers that read.

The listening process never runs a network, so it answers whatever the workers do; a worker that
dies is replaced, and what it had in hand is read again.
"""
