$ pleach lab tree book/trees/cut.tree --svg cut.svg
