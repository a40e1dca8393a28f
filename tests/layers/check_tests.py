#!/usr/bin/env python3
"""Whether each test of tests/unit is built: its folder's CMakeLists.txt has its name, or takes all *_test.cpp."""

import pathlib
import sys

UNIT = pathlib.Path(__file__).resolve().parents[1] / "unit"


def takes_all(text):
    return "/*_test.cpp" in text or "/*.cpp" in text


def forgotten(folder):
    text = (folder / "CMakeLists.txt").read_text(encoding="utf-8")
    return [] if takes_all(text) else [file for file in sorted(folder.glob("*_test.cpp")) if file.stem not in text]


def main():
    folders = [folder for folder in sorted(UNIT.iterdir()) if (folder / "CMakeLists.txt").exists()]
    missing = [file for folder in folders for file in forgotten(folder)]
    for file in missing:
        print(f"{file.relative_to(UNIT.parents[1])} is in no build: name it in the CMakeLists.txt beside it")
    print(f"{sum(len(list(folder.glob('*_test.cpp'))) for folder in folders)} files of tests, {len(missing)} not built")
    return 1 if missing or not folders else 0


if __name__ == "__main__":
    sys.exit(main())
