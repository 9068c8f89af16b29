"""Tables to race on: files, OpenML, synthetic. `load` says where each one came from."""

from ._load import Table, load

__all__ = ["Table", "load"]
