$ pleach lab tree book/trees/all.tree --svg all.svg
