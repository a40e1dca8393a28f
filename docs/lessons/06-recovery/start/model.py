#!/usr/bin/python3
"""Which share of its packets a sender that goes back N sends usefully.

Usage: model.py LOSS BEHIND
"""

import sys


def share(loss, behind):
    """`loss` is the probability that a packet is lost. `behind` is how many packets are sent behind a lost one until the
    sender knows of the loss and goes back."""
    return 1 - loss  # exercise 2: true only if `behind` is 0


if __name__ == "__main__":
    print(f"{share(float(sys.argv[1]), float(sys.argv[2])):.4f}")
