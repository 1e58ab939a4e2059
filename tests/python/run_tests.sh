#!/bin/sh
# Runs the tests of the Python package: run_tests.sh PYTHON FOLDER
set -eu
for needed in numpy pytest; do
    if ! "$1" -c "import $needed" 2>/dev/null; then
        echo "SKIPPED: python_package: $1 has no $needed"
        exit 0
    fi
done
if [ ! -x "$SYSTOLE_SIM" ]; then
    echo "SKIPPED: python_package: $SYSTOLE_SIM is not built"
    exit 0
fi
export PYTHONPATH="$2" PYTHONDONTWRITEBYTECODE=1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT  # pytest keeps the folders of the last runs
"$1" -m pytest -q --basetemp "$folder/tests" "$2/tests"
