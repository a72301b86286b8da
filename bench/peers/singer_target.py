"""A Singer target of Parquet files in the folder FOLDER, 10,000 records a file."""

import os
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
from singer_sdk import BatchSink, Target
from singer_sdk.contrib.msgspec import MsgSpecReader


class ParquetSink(BatchSink):
    max_size = 10_000
    validate_schema = False

    def process_batch(self, context):
        file = f"{os.environ['FOLDER']}/{self.stream_name}-{uuid4()}.parquet"
        pq.write_table(pa.Table.from_pylist(context["records"]), file, compression="zstd")


class ParquetTarget(Target):
    name = "target-files"
    config_jsonschema = {"properties": {}}
    default_sink_class = ParquetSink
    message_reader_class = MsgSpecReader


ParquetTarget.cli()
