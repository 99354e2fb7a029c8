$ pleach lab tree book/trees/first.tree --algorithm sss-star --svg sss.svg
