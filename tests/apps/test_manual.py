#!/usr/bin/python3
"""The manual pages (docs/man) and bash's completion have every command and option that --help names, and no other."""

import pathlib
import re
import subprocess
import unittest

import fabric

PAGES = pathlib.Path(__file__).resolve().parents[2] / "docs" / "man"


def options_of(help_text):
    return set(re.findall(r"(?m)^\s+(?:-\w,)?(--[a-z-]+)", help_text.split("Example:")[0])) - {"--help", "--version"}


def commands_of(help_text):
    listed = re.search(r"(?ms)^(?:SUBCOMMANDS|Subcommands):\n(.*?)(?:^\S|\Z)", help_text)
    return re.findall(r"(?m)^  ([a-z]+)\b", listed[1]) if listed else []


def documented(page):
    """The options of each command of urnic.md, by the words of the command."""
    options = {}
    for section in re.split(r"(?m)^## ", page.split("# EXIT STATUS")[0])[1:]:
        heading, text = section.split("\n", 1)
        terms = "\n".join(re.findall(r"(?m)^(`--.*)\n:", text))
        for name in re.findall(r"urnic ((?:[a-z]+ ?)+)", re.sub(r"[a-z]+\\\|.*", "", heading)):
            options[name.strip()] = set(re.findall(r"`(--[a-z-]+)`", terms))
    return options


class Manual(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.fabric = cls.enterClassContext(fabric.Fabric())
        cls.options = dict(cls.helped(()))

    @classmethod
    def helped(cls, words):
        """The options of each command that has no commands of its own, as --help lists them."""
        text = cls.fabric.run(cls.fabric.urnic, *words, "--help")
        for name in commands_of(text):
            yield from cls.helped((*words, *name.split(",")))
        if words and not commands_of(text):
            yield " ".join(words), options_of(text)

    def test_help_is_understood(self):
        self.assertIn("--faults", self.options["run"])
        self.assertIn("set recovery", self.options)

    def test_urnic(self):
        page = documented((PAGES / "urnic.md").read_text())
        page.pop("link list")  # another name for "link show"
        self.assertEqual(page, self.options)

    def test_urnicd(self):
        helped = options_of(self.fabric.run(self.fabric.prefix / "libexec" / "urnic" / "urnicd", "--help"))
        terms = "\n".join(re.findall(r"(?m)^(`--.*)\n:", (PAGES / "urnicd.md").read_text()))
        self.assertEqual(set(re.findall(r"`(--[a-z-]+)`", terms)) - {"--help", "--version"}, helped)

    def test_completion(self):
        script = fabric.tree() / "share" / "bash-completion" / "completions" / "urnic"
        for name, options in self.options.items():
            words = ("urnic", *name.split(), "--")
            line = f"source {script}; COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}; _urnic; echo ${{COMPREPLY[@]}}"
            said = subprocess.run(["bash", "--norc", "-c", line], capture_output=True, text=True, check=True).stdout
            with self.subTest(name):
                self.assertEqual(set(said.split()) - {"--", "--help"}, options)


if __name__ == "__main__":
    unittest.main()
