$ pleach lab tree book/trees/deep.tree --algorithm alpha-beta --svg deep.svg
