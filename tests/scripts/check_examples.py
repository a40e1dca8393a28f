#!/usr/bin/python3
"""Whether docs/packet-scripts.md shows the examples of tests/scripts/examples as they are, and whether each script
begins with the section that its name says.

    check_examples.py
"""

import pathlib
import sys

SCRIPTS = pathlib.Path(__file__).resolve().parent
DOCUMENT = SCRIPTS.parents[1] / "docs" / "packet-scripts.md"


def problems():
    blocks = DOCUMENT.read_text().split("```")[1::2]
    examples = sorted((SCRIPTS / "examples").glob("*.packets"))
    if len(examples) < 10:
        yield "there are fewer than ten examples"
    for example in examples:
        if "\n" + example.read_text() not in blocks:
            yield f"{DOCUMENT.name} does not show {example.name} as it is"
    for script in sorted(SCRIPTS.glob("*/*.packets")):
        if script.parent.name == "examples":
            continue
        text = script.read_text()
        section = script.name.split("-")[0]
        if section not in text.split("\n")[0]:
            yield f"{script.relative_to(SCRIPTS)} does not begin with the rule of section {section}"
        if "\n# Broken, " not in text:
            yield f"{script.relative_to(SCRIPTS)} does not say what would be seen if the rule were broken"


def main():
    found = list(problems())
    for problem in found:
        print(problem)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
