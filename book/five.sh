#!/bin/sh
# Every algorithm on five chess positions at depth 5 (or the depth given as first argument):
# stops with an error if any two disagree. Minimax looks at every node, so this takes minutes.
# PLEACH names the program (default: target/release/pleach).
set -eu
pleach=${PLEACH:-target/release/pleach}
depth=${1:-5}

while read -r fen; do
    echo "\$ pleach lab compare --depth $depth --untimed --fen \"$fen\""
    echo
    "$pleach" lab compare --depth "$depth" --untimed --fen "$fen"
    echo
done <<'POSITIONS'
rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1
8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1
r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1
r1bqkbnr/1ppp1ppp/p1n5/4p3/B3P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 1 4
4r1k1/1p3p1p/p2p2p1/3P4/2P5/1P4P1/P4PKP/3R4 w - - 0 25
POSITIONS
