$ pleach lab tree book/trees/first.tree --algorithm minimax --svg minimax.svg
