$ pleach lab tree --game random --branching 3 --depth 3 --quality 1 --svg perfect.svg
