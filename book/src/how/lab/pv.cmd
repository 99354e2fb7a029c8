$ pleach lab tree book/trees/pv.tree --svg pv.svg
