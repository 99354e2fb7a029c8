#!/usr/bin/env bash
# Builds a network from nothing but the teacher's file: data, training, record.
#
# Usage: nets/rebuild.sh TEACHER.nnue [short|full] [FOLDER]
#
# TEACHER.nnue is the network of Stockfish 15.1 (nn-ad9b42354671.nnue, published as CC0). Any
# Stockfish 15.1 writes its own: echo 'export_net TEACHER.nnue' | stockfish
#
# short (the default)  6,000 quick games, 128 neurons: some minutes. Fails if the held-out loss is
#                      above 0.011 (it was 0.0097 when this was written).
# full                 a whole recipe from nothing: some 1,150 M positions, half of them random moves
#                      away from those of games and searches, 1,024 neurons with ten king buckets; rates,
#                      thinning and hints of the layers as for layered-k-1024k10. Few passes over many
#                      games, for networks memorise games that they see often. Days on a small machine; every stage
#                      goes on where it was stopped. The whole of it has not been run yet, so there is
#                      no loss to expect. The networks since layered-k-1024k10 were made otherwise, each
#                      run going on from the last: book/src/nets.md tells how.
#
# Both train a network without dense layers first, then add these and go on: most is learnt before
# the layers cost time.
#
# FOLDER [target/net] takes the data, the network and its record. THREADS limits the threads; SHARDS
# [4] is the number of parts in which the full recipe's positions, 55 GB in all, are in memory;
# PART [1] divides the numbers of games: 4000 leaves 30 to 500 of a kind, to try every stage.
set -euo pipefail
if [ $# -lt 1 ] || [ ! -f "$1" ]; then
    sed -n '2,/^set -/s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
teacher=$(realpath "$1")
recipe=${2:-short}
folder=${3:+$(realpath -m "$3")}
cd "$(dirname "$0")/.."
folder=${folder:-target/net}
threads=${THREADS:-$(nproc)}
shards=${SHARDS:-4}
part=${PART:-1}

# The record names the source that trained: a changed working tree is said to be one.
PLEACH_COMMIT=$(git describe --always --dirty --abbrev=40 2>/dev/null || echo unknown)
export PLEACH_COMMIT
cargo build --release --locked
pleach() { target/release/pleach "$@"; }

mkdir -p "$folder"
# Games or positions of a kind, labelled by the teacher: data KIND SEED GAMES [options]
data() {
    kind=$1 seed=$2 games=$3
    shift 3
    echo "== $games games: $kind, seed $seed"
    pleach datagen "$folder/$kind" --kind "$kind" --name "$kind" --seed "$seed" --games "$games" \
        --teacher "$teacher" --threads "$threads" "$@"
}

# Positions up to MOVES random moves from those of a kind, with the sums of the teacher's first
# dense layer: near KIND MOVES SEED
near() {
    mkdir -p "$folder/near"
    for file in "$folder/$1"/*.zst; do
        name=$(basename "$file")
        out="$folder/near/${name%%.*}-$2.pos.zst"
        [ "$out" -nt "$file" ] || pleach label "$file" -o "$out" --teacher "$teacher" --threads "$threads" \
            --hints --random-moves "$2" --seed "$3"
    done
}

# The held-out loss of the finished run.
loss() {
    python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["held_out_loss"]["target"])' \
        "$folder/$1.json"
}

case $recipe in
short)
    # Made anew each time, so that this shows that data can be made.
    rm -f "$folder"/quick/quick-811{-*,.json}
    data quick 811 6000
    echo '== Training'
    rm -f "$folder"/short{,-direct}.checkpoint
    short() {
        pleach train "$folder"/quick/quick-811-*.vf.zst --teacher "$teacher" --scale 250 --hidden 128 \
            --king-buckets 5 --batch 4096 --final-rate 1e-5 --hold-out 50 --seed 1 \
            --threads "$threads" "$@"
    }
    short -o "$folder/short-direct.pnn" --epochs 10 --rate 2e-3
    short -o "$folder/short.pnn" --init "$folder/short-direct.pnn" --layers --epochs 3 --rate 5e-4
    found=$(loss short)
    echo "Held-out loss $found"
    python3 -c 'import sys; sys.exit(float(sys.argv[1]) > 0.011)' "$found" || {
        echo 'The loss is above 0.011: something is wrong with data or trainer.' >&2
        exit 1
    }
    ;;
full)
    # Positions that the search evaluates first: they are what the network will be asked about.
    data evals 821 $((120000 / part)) --nodes 1000
    data shallow 822 $((1200000 / part))
    data quick 823 $((2000000 / part)) --quiet-moves 6
    data search 824 $((600000 / part)) --nodes 1000
    # Measured on and never learnt from.
    pleach datagen "$folder/held-out" --kind evals --name held-out --seed 825 \
        --games $((1000 / part + 1)) --nodes 1000 --every 100 --teacher "$teacher" --threads "$threads"
    held_out=()
    for file in "$folder"/held-out/*.zst; do held_out+=(--held-out "$file"); done
    # Positions beside those of games and searches: cheap, and what they teach is what games lack.
    near evals 2 831
    near shallow 1 832
    near quick 3 833
    near search 1 834
    near search 3 835
    echo '== Training'
    full() {
        pleach train "$folder"/{evals,shallow,quick,search,near}/*.zst "${held_out[@]}" \
            --shards "$shards" --teacher "$teacher" --scale 250 --loss-scale 130 \
            --hidden 1024 --king-buckets 10 --batch 32768 --warm-up 1000 --final-rate 8e-6 \
            --round-from 0.9 --seed 1 --threads "$threads" "$@"
    }
    full -o "$folder/full-direct.pnn" --epochs 6 --rate 1e-3
    full -o "$folder/full.pnn" --init "$folder/full-direct.pnn" --layers --epochs 4 --rate 8e-4 \
        --thin-beyond 400 --hint-weight 0.1 --final-hint-weight 0.05
    echo "Held-out loss $(loss full)"
    ;;
*)
    echo "short or full, not $recipe" >&2
    exit 2
    ;;
esac
