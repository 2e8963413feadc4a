#!/usr/bin/env python3
"""Prints the rows of an SQL query as CSV.

sql.py duckdb|chdb QUERY
"""

import csv
import json
import sys

engine, query = sys.argv[1:]
if engine == "chdb":
    import chdb

    rows = map(json.loads, str(chdb.query(query, "JSONCompactEachRow")).splitlines())
else:
    import duckdb

    rows = duckdb.execute(query).fetchall()
csv.writer(sys.stdout).writerows(rows)
