#!/usr/bin/env python3
"""Prints the ten most frequent values of an SQL expression over the lines of a file, with DuckDB.

duckdb_top.py FILE EXPRESSION     the expression refers to the column `line`
"""

import sys

import duckdb

path, key = sys.argv[1:]
query = f"""
    SELECT count(*) AS n, {key} AS k
    FROM read_csv(?, columns = {{'line': 'VARCHAR'}}, delim = '\x01', quote = '', escape = '',
                  header = false, auto_detect = false)
    GROUP BY k ORDER BY n DESC, k LIMIT 10
"""
for count, value in duckdb.execute(query, [path]).fetchall():
    print(count, value)
