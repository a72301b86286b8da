"""Prints how many rows a peer keeps in the folder FOLDER: rows.py <what DuckDB reads>."""

import os
import sys

import duckdb

os.chdir(os.environ["FOLDER"])
connection = duckdb.connect("peers.duckdb") if os.path.exists("peers.duckdb") else duckdb.connect()
print(connection.execute(f"select count(*) from {sys.argv[1]}").fetchone()[0])
