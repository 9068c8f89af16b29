"""The solver `passes`: it skips rows that are far from every knot of their loss."""
