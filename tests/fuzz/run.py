"""Wrong calls for as long as you like: python tests/fuzz/run.py --seconds 600 --seed 1 -k conv

Prints every new finding with the call that makes it. tests/python/test_robustness.py does the same
for a minute."""

import argparse
import random
import re
import time

import calls
import sandbox


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--seconds", type=float, default=60)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--batch", type=int, default=200)
    p.add_argument("-k", default="", help="regular expression on the function")
    p.add_argument("--private", action="store_true", help="private operators, too")
    o = p.parse_args()
    rng = random.Random(o.seed)
    targets = [t for t in calls.targets(o.private) if re.search(o.k, t.source)]
    print(len(targets), "functions", flush=True)
    end, done, seen = time.time() + o.seconds, 0, set()
    while time.time() < end:
        batch = [calls.call(rng.choice(targets), rng) for _ in range(o.batch)]
        done += len(batch)
        for source, wrong in sandbox.run(batch):
            key = (source.split("(")[0], wrong[:30])
            if key not in seen:
                seen.add(key)
                print(f"--- {source}\n    {wrong}", flush=True)
    print(f"{done} calls, {len(seen)} findings", flush=True)


if __name__ == "__main__":
    main()
