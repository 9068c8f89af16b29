"""Races between Rectiline and other solvers, scored from the data alone.

``python -m benchmarks --help`` lists the commands; ``benchmarks/README.md`` says how they score.
The parent process needs nothing but the standard library: everything numerical happens in workers.
"""
