"""One sync of the sessions with dlt into the folder FOLDER: dlt_sync.py <form>.

scd2: records as dicts, into DuckDB. scd2-arrow: tables of Arrow, into DuckDB. append: dicts, into files of Parquet.
"""

import hashlib
import os
import sys

import dlt
import orjson

from pages import pages


def tables():
    """Tables of 10,000 rows, each row with the hash by which scd2 tells its versions apart."""
    import pyarrow as pa

    texts = ["sessionId", "title", "status", "computerId", "sessionSettings", "row_hash"]
    numbers = ["messageCount", "createdAt", "updatedAt", "completedAt"]
    schema = pa.schema([*((name, pa.string()) for name in texts), *((name, pa.int64()) for name in numbers)])
    rows = []
    for page in pages():
        rows += map(row_of, page)
        if len(rows) >= 10_000:
            yield pa.Table.from_pylist(rows, schema)
            rows = []
    if rows:
        yield pa.Table.from_pylist(rows, schema)


def row_of(record):
    # dlt's own add_row_hash_to_table needs pandas, whose start would be counted.
    record["row_hash"] = hashlib.blake2b(orjson.dumps(record), digest_size=16).hexdigest()
    if "sessionSettings" in record:
        record["sessionSettings"] = orjson.dumps(record["sessionSettings"]).decode()
    return record


folder = os.environ["FOLDER"]
duckdb = dlt.destinations.duckdb(f"{folder}/peers.duckdb")
scd2 = {"disposition": "merge", "strategy": "scd2"}
read, disposition, destination = {
    "scd2": (pages, scd2, duckdb),
    "scd2-arrow": (tables, {**scd2, "row_version_column_name": "row_hash"}, duckdb),
    "append": (pages, "append", dlt.destinations.filesystem(f"{folder}/files")),
}[sys.argv[1]]

# Settings stay one column of JSON: flattened, they'd become columns of their own for each child session.
sessions = dlt.resource(read, name="sessions", write_disposition=disposition, max_table_nesting=0)
pipeline = dlt.pipeline("peer", pipelines_dir=f"{folder}/state", destination=destination, dataset_name="data")
# Parquet takes the least CPU of the formats that lie between dlt and a destination; inserts take three times as much.
pipeline.run(sessions, loader_file_format="parquet")
