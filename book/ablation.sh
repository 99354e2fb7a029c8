#!/bin/sh
# Nodes of the bench with each technique of the search switched off in turn: how much smaller a
# technique makes the tree. Needs a program built with `--features tune`, named by PLEACH
# (default: target/release/pleach). The depth is the first argument (default 10).
set -eu
pleach=${PLEACH:-target/release/pleach}
depth=${1:-10}

nodes() { "$pleach" "$@" "bench $depth" | tail -n 1 | cut -d ' ' -f 1; }

echo "\$ sh book/ablation.sh $depth"
echo
whole=$(nodes)
printf '%-26s%10s%9s\n' 'switched off' nodes change
printf '%-26s%10d\n' nothing "$whole"
# Switches of time management do nothing at a fixed depth.
for switch in $(grep -o "^ *use_[a-z_]*;" src/params.rs | tr -d ' ;' | grep -v time); do
    without=$(nodes "setoption name $switch value false")
    change=$(((without * 1000 / whole) - 1000))
    sign=+
    if [ "$change" -lt 0 ]; then sign=- change=$((-change)); fi
    printf '%-26s%10d %s%4d.%d%%\n' "$(echo "${switch#use_}" | tr _ ' ')" "$without" \
        "$sign" $((change / 10)) $((change % 10))
done
