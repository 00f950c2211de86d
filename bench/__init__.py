"""Speed and memory of the product beside what would be used instead.

Each module has `run()`, which yields figures: names end in their unit, `ratio_<peer>` is ours over the
peer's in the same run, `ratio_limit` ours over the limit that the work sets. Below 1 is better.
"""
