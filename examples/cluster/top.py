"""Prints the most frequent keys of logs, counted by all executors of a Spark cluster.

    spark-submit --master MASTER examples/cluster/top.py [--fields FIELDS] [--sum FIELD] [--n N] PATH...
"""

import argparse
import sys

import finecomb
import finecomb.spark
from pyspark.sql import SparkSession


def main() -> None:
    parser = argparse.ArgumentParser(description="Prints the most frequent keys of logs.")
    parser.add_argument("--fields", help="fields of the key, such as 7 or path,status")
    parser.add_argument("--sum", help="field that is summed up for each key")
    parser.add_argument("--n", type=int, default=10, help="number of keys (default: 10)")
    parser.add_argument("paths", nargs="+", help="files, directories, or paths of hdfs: or s3a:")
    arguments = parser.parse_args()
    spark = SparkSession.builder.appName("comb top").getOrCreate()
    try:
        top = finecomb.spark.top(spark, arguments.paths, fields=arguments.fields, sum=arguments.sum, n=arguments.n)
    except finecomb.Error as error:
        sys.exit(f"top.py: {error}")
    for _, text, count, *measures in top.collect():
        print(count, *measures, text)


if __name__ == "__main__":
    main()
