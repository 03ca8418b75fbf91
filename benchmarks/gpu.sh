#!/usr/bin/env bash
# All measurements on a GPU, in one call of less than nine minutes (or $SECONDS_MAX); JSON, pictures
# and a log in the folder given (or $OUT, or benchmarks/results).
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
whole=${SECONDS_MAX:-530}
begun=$SECONDS
failed=0

# Runs one part, for at most that many seconds, and not beyond the whole time. How long it takes
# on a CPU says nothing, so that --smoke has time.
part() {
    local limit=$1 name=$2 left=$((whole - (SECONDS - begun)))
    shift 2
    if [ -n "$smoke" ]; then
        limit=1800 left=1800
    fi
    if [ "$left" -lt 20 ]; then
        echo "== $name: left out, the time is up"
        return
    fi
    echo "== $name ($((SECONDS - begun)) s)"
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
    device=(--device gpu) sizes=(1024 16384 262144 1048576) repeats=3 seconds=0.2
    big=(1024 16384 65536)
    mark=200 minutes=0.8 games=()
    # A little below what a whole training reaches.
    others=(asymmetric_advantages:350 coordination_ring:200 forced_coordination:150
        counter_circuit_o_1order:100)
fi

: >"$out/gpu.log"
# The kitchen first: the largest batch that pays, and the share of the memory's bandwidth. What the
# scripts' own --minutes leave out is missing in their tables; what is stopped here has none.
part 120 "kitchen" "$python" benchmarks/rollouts.py "${device[@]}" --env kitchen --limits \
    --sizes "${sizes[@]}" --repeats "$repeats" --seconds "$seconds" --minutes 1 \
    --out "$out/gpu-kitchen.json"
beside=()
if [ -n "${JAXMARL_PYTHON:-}" ]; then
    beside=(--peer jaxmarl --peer-python "$JAXMARL_PYTHON")
    part 140 "kitchen beside JaxMARL" "$python" benchmarks/rollouts.py "${device[@]}" \
        "${beside[@]}" --sizes "${big[@]}" --repeats "$repeats" \
        --seconds "$seconds" --minutes 1 --out "$out/gpu-jaxmarl.json"
fi
part 200 "learning cramped_room" "$python" benchmarks/learning.py "${device[@]}" "${beside[@]}" \
    --mark "$mark" --minutes "$minutes" --out "$out/gpu-learning-cramped_room.json"
part 240 "all environments" "$python" benchmarks/rollouts.py "${device[@]}" "${games[@]}" \
    --sizes 4096 65536 --repeats 1 --seconds "$seconds" --minutes 1.8 \
    --observations vector network --out "$out/gpu-environments.json"
for goal in "${others[@]}"; do
    layout=${goal%:*}
    part 60 "learning $layout" "$python" benchmarks/learning.py "${device[@]}" --layout "$layout" \
        --mark "${goal#*:}" --minutes 0.5 --no-parts --out "$out/gpu-learning-$layout.json"
done
echo "== done in $((SECONDS - begun)) s: $out"
exit "$failed"
