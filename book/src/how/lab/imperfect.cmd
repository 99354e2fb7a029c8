$ pleach lab tree --game random --branching 3 --depth 3 --quality 0 --seed 6 --svg imperfect.svg
