#!/usr/bin/python3
"""Finds all nodes of a fabric by directed routes, as a subnet manager does before any port has a LID.

Usage: urnic run -- ./discover.py
Prints a line for each node: its GUID, the shortest directed route from urnic0 to it, its description.
"""

import os
import re
import subprocess

os.environ["PATH"] += ":/usr/sbin"  # where Debian has smpquery


def query(attribute, route, *port):
    """The fields of an attribute of the node at the end of the route, by name."""
    words = ["smpquery", "-C", "urnic0", "-D", attribute, route, *map(str, port)]
    lines = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout
    return dict(re.findall(r"(?m)^([\w ]+):\.*(.*)$", lines))


def has_link(route, port):
    """Whether something is connected to that port of the node."""
    return query("portinfo", route, port)["LinkState"] != "Down"


def explore():
    """{GUID: (route, description)} of all nodes."""
    found = {}
    for route in "0", "0,1":  # exercise 1: the own node, and the one behind its port. What is behind that?
        node = query("nodeinfo", route)  # has Guid, NodeType ("Switch" or "Channel Adapter"), NumPorts
        found[node["Guid"]] = route, query("nodedesc", route)["Node Description"]
    return found


if __name__ == "__main__":
    for guid, (route, description) in explore().items():
        print(guid, route, description)
