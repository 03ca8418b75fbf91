#!/usr/bin/env bash
# All measurements on a GPU, in one call of less than nine minutes; JSON, pictures and a log in the
# folder given (or $OUT, or benchmarks/results).
#
#   benchmarks/gpu.sh [--smoke] [FOLDER]
#
# It needs manyhands with its "train" extra and a JAX that sees the GPU. JaxMARL is measured beside
# it where JAXMARL_PYTHON names an interpreter that has it (and for learning, what its baseline
# imports), with a JAX that sees the GPU, too. --smoke runs every part on the CPU with tiny sizes.
set -uo pipefail
cd "$(dirname "$0")/.."

smoke=
if [ "${1:-}" = --smoke ]; then
    smoke=1
    shift
fi
out=${1:-${OUT:-benchmarks/results}}
mkdir -p "$out"
python=${PYTHON:-python3}
begun=$SECONDS
failed=0

# Runs one part, for at most that many seconds, and not beyond the nine minutes. How long it takes
# on a CPU says nothing, so that --smoke has time.
part() {
    local limit=$1 name=$2 left=$((530 - (SECONDS - begun)))
    shift 2
    if [ -n "$smoke" ]; then
        limit=1800 left=1800
    fi
    if [ "$left" -lt 20 ]; then
        echo "== $name: left out, the time is up"
        return
    fi
    echo "== $name"
    timeout $((limit < left ? limit : left)) "$@" 2>&1 | tee -a "$out/gpu.log" || {
        echo "== $name: failed or ran out of time (see $out/gpu.log)"
        failed=1
    }
}

if [ -n "$smoke" ]; then
    device=(--device cpu) sizes=(1 8) repeats=1 seconds=0.01 big=(8)
    mark=0.01 minutes=20 others=()
    # A copy of memory and one environment stand for all.
    games=(--env kitchen)
else
    device=(--device gpu) sizes=(1024 16384 65536 262144 1048576) repeats=3 seconds=0.25
    big=(1024 4096 16384 65536 262144)
    mark=200 minutes=1.2 games=()
    # A little below what a whole training reaches.
    others=(asymmetric_advantages:350 coordination_ring:200 forced_coordination:150
        counter_circuit_o_1order:100)
fi

: >"$out/gpu.log"
# The kitchen first: the largest batch that pays, and the share of the memory's bandwidth.
part 120 "kitchen" "$python" benchmarks/rollouts.py "${device[@]}" --env kitchen --limits \
    --sizes "${sizes[@]}" --repeats "$repeats" --seconds "$seconds" --out "$out/gpu-kitchen.json"
beside=()
if [ -n "${JAXMARL_PYTHON:-}" ]; then
    beside=(--peer jaxmarl --peer-python "$JAXMARL_PYTHON")
    part 120 "kitchen beside JaxMARL" "$python" benchmarks/rollouts.py "${device[@]}" \
        "${beside[@]}" --sizes "${big[@]}" --repeats "$repeats" \
        --seconds "$seconds" --out "$out/gpu-jaxmarl.json"
fi
part 220 "learning cramped_room" "$python" benchmarks/learning.py "${device[@]}" "${beside[@]}" \
    --mark "$mark" --minutes "$minutes" --out "$out/gpu-learning-cramped_room.json"
for goal in "${others[@]}"; do
    layout=${goal%:*}
    part 60 "learning $layout" "$python" benchmarks/learning.py "${device[@]}" --layout "$layout" \
        --mark "${goal#*:}" --minutes 0.5 --no-parts --out "$out/gpu-learning-$layout.json"
done
part 240 "all environments" "$python" benchmarks/rollouts.py "${device[@]}" "${games[@]}" \
    --sizes "${sizes[@]}" --repeats 1 --seconds "$seconds" --minutes 3 --limits \
    --out "$out/gpu-environments.json"
echo "== done in $((SECONDS - begun)) s: $out"
exit "$failed"
