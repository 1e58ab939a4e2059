#!/usr/bin/env bash
# Makes the Python environment of the judges in build/judges/env, unless it is there as required,
# and ONNX's node tests of opset 17, the newest that sim reads, in build/judges/node_tests_17.
set -euo pipefail
cd "$(dirname "$0")/../.."

environment=build/judges/env
requirements=tests/judges/requirements.txt
tests=build/judges/node_tests_17

if ! cmp -s "$requirements" "$environment/requirements.txt"; then
    rm -rf "$environment"
    python3 -m venv "$environment"
    "$environment/bin/pip" install --quiet --disable-pip-version-check --requirement "$requirements"
    cp "$requirements" "$environment/requirements.txt"
fi

# onnx 1.12 is the release of opset 17. Only its test data are taken, so any Python's package will do.
if [ ! -d "$tests" ]; then
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    "$environment/bin/pip" download --quiet --disable-pip-version-check --no-deps --dest "$folder" \
        --only-binary=:all: --python-version 3.10 onnx==1.12.0
    python3 -m zipfile -e "$folder"/onnx-*.whl "$folder/onnx"
    mv "$folder/onnx/onnx/backend/test/data/node" "$tests"
fi
