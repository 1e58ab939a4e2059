#!/usr/bin/env bash
# Makes the Python environments of the judges, unless they are there as required: build/judges/env, and
# build/judges/env_2_21 with the newest TFLite runtime alone. Makes ONNX's node tests of opset 17, the newest
# that sim reads, in build/judges/node_tests_17. With the argument `jax` or `torch`, makes build/judges/env_jax or
# build/judges/env_torch instead.
set -euo pipefail
cd "$(dirname "$0")/../.."

environment=build/judges/env
tests=build/judges/node_tests_17

# make_environment FOLDER REQUIREMENTS
make_environment() {
    if cmp -s "$2" "$1/requirements.txt"; then return; fi
    rm -rf "$1"
    python3 -m venv "$1"
    "$1/bin/pip" install --quiet --disable-pip-version-check --requirement "$2"
    cp "$2" "$1/requirements.txt"
}

if [ -n "${1:-}" ]; then
    make_environment "build/judges/env_$1" "tests/judges/requirements_$1.txt"
    exit
fi
make_environment "$environment" tests/judges/requirements.txt
make_environment build/judges/env_2_21 tests/judges/requirements_2_21.txt

# onnx 1.12 is the release of opset 17. Only its test data are taken, so any Python's package will do.
if [ ! -d "$tests" ]; then
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    "$environment/bin/pip" download --quiet --disable-pip-version-check --no-deps --dest "$folder" \
        --only-binary=:all: --python-version 3.10 onnx==1.12.0
    python3 -m zipfile -e "$folder"/onnx-*.whl "$folder/onnx"
    mv "$folder/onnx/onnx/backend/test/data/node" "$tests"
fi
