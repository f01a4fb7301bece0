#!/bin/sh
# Lets MTEB evaluate the oracle on the layout `mteb` of the example project, in a separate environment,
# and compares its p-MRR with measures.p_mrr(documents="changed"): benchmarks/prove_mteb.sh [FOLDER]
#
# It installs mteb with torch: some gigabytes in FOLDER (default: a new temporary folder). The evaluation
# itself needs no network. bin/test does not run it.
set -eu
cd "$(dirname "$0")/.."
root=$PWD
folder=${1:-$(mktemp -d)}
mkdir -p "$folder"
version=2.26.24

if [ ! -x "$folder/mteb/bin/python" ]; then
    echo "Installing mteb $version into $folder/mteb"
    .venv/bin/uv venv --quiet "$folder/mteb"
    .venv/bin/uv pip install --quiet --python "$folder/mteb/bin/python" "mteb==$version"
fi

export REJUDGE_DATA="$folder/data" DJANGO_SETTINGS_MODULE=config.settings
mkdir -p "$REJUDGE_DATA"
.venv/bin/python manage.py prepare > "$folder/prepare.log"
.venv/bin/python manage.py shell --command \
    'from config.example import ensure_example; ensure_example()' > /dev/null
.venv/bin/python manage.py publication example --texts --licence CC0-1.0 > /dev/null
.venv/bin/python manage.py export example mteb --output "$folder/example" > /dev/null
.venv/bin/python -m benchmarks.prove_mteb run "$folder/example" "$folder/oracle.json"
HF_HOME="$folder/hf" HF_HUB_OFFLINE=1 HF_DATASETS_OFFLINE=1 \
    "$folder/mteb/bin/python" -P "$root/benchmarks/prove_mteb.py" evaluate \
    "$folder/example" "$folder/oracle.json"
