#!/usr/bin/env python3
"""Counts the operations of the programs of this folder, as XLA's cost analysis does and so profiles of Cloud TPUs.

    build/judges/env_jax/bin/python models/paradnn/count_operations.py [PROGRAM...]

Prints, as JSON, millions of a core in a step: two for each multiply-add of a product, and one for each element of a result
of element-wise work, conversions and sums over the cores among them. configs/published/cloud_tpu.json has them.
"""

import gzip
import json
import re
import sys
from pathlib import Path

import jax
from jax._src.lib import xla_client

FOLDER = Path(__file__).resolve().parent


def operations_of(path):
    computation = xla_client.XlaComputation(gzip.decompress(path.read_bytes()))
    costs = xla_client._xla.hlo_module_cost_analysis(jax.devices("cpu")[0].client, computation.get_hlo_module())
    return costs["flops"] / 1e6


def main():
    paths = [Path(each) for each in sys.argv[1:]] or sorted(FOLDER.glob("fc_*.hlo.gz"))
    counted = {}
    for path in paths:
        layers_and_nodes, batch = re.fullmatch(r"(fc_\d+x\d+)_2000_1000_(\d+)\.hlo\.gz", path.name).groups()
        counted[f"{layers_and_nodes}_b{batch}"] = operations_of(path)
    print(json.dumps(counted, indent=2))


if __name__ == "__main__":
    main()
