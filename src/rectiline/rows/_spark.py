"""Runs passes on Spark: a data frame of items, opened by its workers, with one small row back."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from typing import Any


def is_spark_frame(X: Any) -> bool:
    """Whether X is a data frame of Spark."""
    return type(X).__module__.split(".")[0] == "pyspark"


def spark(session: Any, partitions: int | None = None) -> SparkExecutor:
    """Return an executor that runs passes on the workers of a Spark session.

    The items of a source, such as the row groups of Parquet files, become a small data frame whose
    rows Spark's workers open (``mapInArrow``). Spark Connect will do. The workers need rectiline,
    and must find the files under the same names.

    Parameters
    ----------
    session : pyspark.sql.SparkSession
    partitions : int, optional
        Tasks of one pass; by default one for each item.

    Returns
    -------
    SparkExecutor
        For the argument `executor` of sources.

    Examples
    --------
    >>> import rectiline as rl
    >>> rl.rows.spark(None)
    Traceback (most recent call last):
    ...
    TypeError: session: must be a SparkSession; got NoneType.
    """
    if not hasattr(session, "createDataFrame"):
        raise TypeError(f"session: must be a SparkSession; got {type(session).__name__}.")
    return SparkExecutor(session, partitions)


class SparkExecutor:
    """Maps functions over items on the workers of a Spark session."""

    def __init__(self, session: Any, partitions: int | None) -> None:
        self._session, self._partitions = session, partitions

    def map(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        """Yield ``function(item)`` in the order of the items."""
        packed = [(place, pickle.dumps(item)) for place, item in enumerate(items)]
        if not packed:
            return
        frame = self._session.createDataFrame(packed, "place long, item binary")
        frame = frame.repartition(self._partitions or len(packed))
        task = _Task(pickle.dumps(function))
        found = frame.mapInArrow(task, "place long, result binary").collect()
        for row in sorted(found, key=lambda row: int(row["place"])):
            yield pickle.loads(bytes(row["result"]))


class _Task:
    """What runs on the workers: batches of pickled items become batches of pickled results."""

    def __init__(self, packed: bytes) -> None:
        self._packed = packed

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        function = pickle.loads(self._packed)
        for batch in batches:
            places, items = batch.column(0).to_pylist(), batch.column(1).to_pylist()
            for place, item in zip(places, items, strict=True):
                result = pickle.dumps(function(pickle.loads(item)))
                yield pa.RecordBatch.from_pydict({"place": [place], "result": [result]})
