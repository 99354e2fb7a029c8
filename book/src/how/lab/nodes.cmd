$ pleach lab compare --game random --depth 8 --quality 0.9 --plot nodes.svg
