$ pleach lab tree book/trees/low.tree --svg low.svg
