"""A Singer tap of the sessions: the full table each time, settings as JSON text, as a column of a table takes them."""

import sys

import orjson
from pages import pages
from singer_sdk import Stream, Tap
from singer_sdk.contrib.msgspec import MsgSpecWriter


class UnflushedWriter(MsgSpecWriter):
    """The SDK's fast writer flushes after each record."""

    def write_message(self, message):
        sys.stdout.buffer.write(self.format_message(message))


class Sessions(Stream):
    name = "sessions"
    # It says no more than it must, so that nobody has much to check.
    schema = {"type": "object", "properties": {"sessionId": {"type": "string"}}, "additionalProperties": True}
    primary_keys = ("sessionId",)

    def get_records(self, context):
        for page in pages():
            for record in page:
                if "sessionSettings" in record:
                    # The SDK walks through each object in a record, and leaves texts alone.
                    record["sessionSettings"] = orjson.dumps(record["sessionSettings"]).decode()
                yield record


class SessionsTap(Tap):
    name = "tap-sessions"
    config_jsonschema = {"properties": {}}
    message_writer_class = UnflushedWriter

    def discover_streams(self):
        return [Sessions(tap=self)]


SessionsTap.cli()
