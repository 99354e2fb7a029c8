#!/bin/sh
# Makes the book's drawings and tables anew, each with the command that made it. Run from the
# repository's root; PLEACH names the program (default: target/release/pleach).
set -eu
pleach=${PLEACH:-target/release/pleach}
out=book/src/how/lab
mkdir -p "$out"

# show WORDS...: as one would type it.
show() {
    printf '$ pleach'
    for word; do
        case $word in
        *' '*) printf ' "%s"' "$word" ;;
        *) printf ' %s' "$word" ;;
        esac
    done
    echo
}

# table NAME WORDS...: the command and what it prints, as NAME.txt.
table() {
    name=$1
    shift
    { show "$@"; echo; "$pleach" "$@"; } >"$out/$name.txt"
}

# drawing NAME WORDS...: the picture as NAME.svg, the command as NAME.cmd.
drawing() {
    name=$1
    shift
    show "$@" --svg "$name.svg" >"$out/$name.cmd"
    "$pleach" "$@" --svg "$out/$name.svg"
}

trees=book/trees
middlegame='r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10'

# Minimax and alpha-beta
drawing minimax lab tree $trees/first.tree --algorithm minimax
drawing alphabeta lab tree $trees/first.tree --algorithm alpha-beta
drawing deep lab tree $trees/deep.tree --algorithm alpha-beta
drawing low lab tree $trees/low.tree
table edge-above lab tree $trees/edge.tree --algorithm fail-soft-above
table edge lab tree $trees/edge.tree --algorithm with-bound
table growth lab compare --game random --depth 6 --quality 1 --untimed \
    --algorithm minimax --algorithm fail-soft

# Kinds of nodes
drawing pv lab tree $trees/pv.tree
drawing cut lab tree $trees/cut.tree
drawing all lab tree $trees/all.tree
drawing perfect lab tree --game random --branching 3 --depth 3 --quality 1
drawing imperfect lab tree --game random --branching 3 --depth 3 --quality 0 --seed 6
table kinds lab kinds --game random --depth 6 --quality 0.8
table shape lab shape --depth 14 --fen "$middlegame"

# Deepening and ordering
table presort-plain lab deepen --tree $trees/presort.tree --depth 2
table presort lab deepen --tree $trees/presort.tree --depth 2 --presort
table hints-none lab compare --fen "$middlegame" --depth 4 --untimed --deepening \
    --algorithm fail-soft --unordered
table hints-killers lab compare --fen "$middlegame" --depth 4 --untimed --killers --refutations \
    --algorithm fail-soft --unordered
table hints-all lab compare --fen "$middlegame" --depth 4 --untimed --presort --killers \
    --refutations --algorithm fail-soft --unordered
table captures lab compare --fen "$middlegame" --depth 4 --untimed --presort --killers \
    --refutations --algorithm fail-soft

# Windows and tables
drawing sss lab tree $trees/first.tree --algorithm sss-star
table mtdf-steps lab tree $trees/first.tree --algorithm mtdf
table windows lab compare --game random --depth 8 --quality 0.9 --untimed
table kalah lab compare --game kalah --depth 7 --untimed
table chess lab compare --fen '8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1' --depth 5 --untimed
table memory lab compare --game tictactoe --depth 9 --untimed \
    --algorithm fail-soft --algorithm with-memory --algorithm mtdf
echo '$ pleach lab compare --game random --depth 8 --quality 0.9 --plot nodes.svg' >"$out/nodes.cmd"
"$pleach" lab compare --game random --depth 8 --quality 0.9 --plot "$out/nodes.svg" >/dev/null
