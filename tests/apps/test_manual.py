#!/usr/bin/python3
"""The installed manual pages: one for every command, with the options of --help and no other; the same words in both."""

import json
import pathlib
import re
import shutil
import subprocess
import unittest

import fabric

SOURCES = pathlib.Path(__file__).resolve().parents[2]


def options_of(help_text):
    """The long options that --help lists, with what it says of each, in single spaces."""
    listed = re.search(r"(?ms)^(?:OPTIONS|Options):\n(.*?)(?:^\S|\Z)", help_text)[1]
    entries = re.split(r"(?m)^  (?=\S)", listed)[1:]
    found = {}
    for entry in entries:
        name = re.match(r"(?:-\w,\s?)?(?:\s*)(--[a-z-]+)", entry)[1]
        found[name] = " ".join(re.split(r"\s{2,}", entry.strip(), maxsplit=1)[-1].split())
    return found


def commands_of(help_text):
    listed = re.search(r"(?ms)^(?:SUBCOMMANDS|Subcommands):\n(.*?)(?:^\S|\Z)", help_text)
    return re.findall(r"(?m)^  ([a-z-]+)", listed[1]) if listed else []


@unittest.skipIf(shutil.which("man") is None, "man is not installed: tools/install-packages test")
class Manual(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.fabric = cls.enterClassContext(fabric.Fabric())
        cls.folder = fabric.tree() / "share" / "man"
        if not cls.folder.exists():
            raise unittest.SkipTest("there are no manual pages: pandoc was not installed when urnic was built")

    def help(self, *words):
        return self.fabric.run(self.fabric.urnic, *words, "--help")

    def page(self, name, section=1):
        """The page as a very wide terminal shows it."""
        return subprocess.run(["man", "--local-file", "--no-hyphenation", "--no-justification",
                               self.folder / f"man{section}" / f"{name}.{section}"],
                              env={"MANWIDTH": "1000", "LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"},
                              capture_output=True, text=True, check=True).stdout

    def leaves(self, *words):
        """The commands that have no commands of their own, as words."""
        names = commands_of(self.help(*words))
        if not names:
            yield words
        for name in names:
            yield from self.leaves(*words, name.split(",")[0])

    def test_every_command_has_a_page_and_no_other(self):
        names = commands_of(self.help())
        self.assertIn("run", names)
        pages = {file.stem for file in (self.folder / "man1").iterdir()}
        self.assertEqual(pages, {"urnic", *(f"urnic-{name}" for name in names)})
        overview = self.page("urnic")
        for name in names:
            self.assertIn(f"urnic-{name}(1)", overview)

    def test_a_page_says_what_help_says(self):
        for words in self.leaves():
            with self.subTest(words):
                helped = options_of(self.help(*words))
                self.assertIn("--help", helped)
                page = self.page(f"urnic-{words[0]}")
                part = page
                if len(words) == 2:  # of the page, the part about this command
                    part = re.search(rf"(?ms)^   urnic {' '.join(words)} (.*?)(?:^   urnic |^\S)", page)[1]
                terms = re.findall(r"(?m)^ {7}(?:-\w, )?(--[a-z-]+)", part)
                self.assertEqual(set(terms), set(helped))
                plain = " ".join(part.split()).replace("urnic-configuration(5)", "docs/configuration.md")
                for option, text in helped.items():
                    self.assertIn(text, plain, option)

    def test_examples_and_notes(self):
        for words in self.leaves():
            page = " ".join(self.page(f"urnic-{words[0]}").split()).replace("urnic-configuration(5)", "docs/configuration.md")
            behind = re.split(r"(?m)^(?=\S)", self.help(*words).split("Options:")[1])[1:]
            self.assertTrue(behind, words)
            for text in behind:
                with self.subTest(words):
                    self.assertIn(" ".join(text.removeprefix("Example: ").split()), page)

    def test_values_that_are_known(self):
        page = self.page("urnic-set")
        self.assertIn("One of gbn, selective, irn, sack.", page)

    def test_urnicd(self):
        helped = set(options_of(self.fabric.run(self.fabric.prefix / "libexec" / "urnic" / "urnicd", "--help")))
        terms = "\n".join(re.findall(r"(?m)^(`--.*)\n:", (SOURCES / "docs" / "man" / "urnicd.md").read_text()))
        self.assertEqual(set(re.findall(r"`(--[a-z-]+)`", terms)), helped)

    def test_a_suggestion_that_no_shell_knows(self):
        described = self.fabric.directory / "described.json"
        description = json.loads(self.fabric.run(self.fabric.urnic, "--describe"))
        description["commands"][0]["options"][0]["suggestion"] = "nothing-known"
        described.write_text(json.dumps(description))
        for shell in ("bash", "fish", "zsh"):
            maker = SOURCES / "packaging" / "commands" / f"{shell}_completion.py"
            made = subprocess.run([maker, described], capture_output=True, text=True)
            self.assertNotEqual(made.returncode, 0)
            self.assertIn("nothing-known", made.stderr)


if __name__ == "__main__":
    unittest.main()
