$ pleach lab tree book/trees/first.tree --algorithm alpha-beta --svg alphabeta.svg
