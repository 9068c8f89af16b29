"""How certificates are made, step by step; the door for other rooms is `rectiline.problems.proofs`.

A pair goes through four steps, whoever holds its rows (arrays, blocks, the tasks of a program):

1. `_balance` moves the multipliers so that columns without cost, and an intercept, balance;
2. `_measure` multiplies with X and bounds what rounding did, in plain or twofold arithmetic;
3. `_gather` brings q into the penalty's dual range;
4. `_close` sums the terms of the rows and of the penalty and returns the certificate.

`_prove` does so for one pair in memory, `_tasks` for several tasks, and
`rectiline.problems.blocks` for rows of which most are summed in a pass.
"""
