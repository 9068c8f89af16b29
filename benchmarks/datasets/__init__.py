"""Tables to race on: files, OpenML, synthetic. `load` says where each one came from."""

from ._load import Table, load
from ._real import KNOWN
from ._real import load as load_real
from ._synthetic import linear_model

__all__ = ["KNOWN", "Table", "linear_model", "load", "load_real"]
