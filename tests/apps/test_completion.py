#!/usr/bin/python3
"""What bash, zsh and fish offer for the words of a command line of urnic. Each shell itself is asked."""

import json
import os
import pathlib
import re
import shlex
import shutil
import unittest
import unittest.mock

import fabric
import terminal

LESSONS = pathlib.Path(__file__).resolve().parents[2] / "docs" / "lessons"


class Bash:
    """Calls the function that bash calls, with the words that bash gives it."""

    program = "bash"

    def complete(self, *words):
        script = fabric.tree() / "share" / "bash-completion" / "completions" / "urnic"
        line = f"""source {script}; COMP_WORDS=({" ".join(map(shlex.quote, words))}); COMP_CWORD={len(words) - 1}
                   _urnic; printf '%s\\n' "${{COMPREPLY[@]}}" """
        return set(self.fabric.run("bash", "--norc", "-c", line).splitlines())


class Fish:
    program = "fish"

    def complete(self, *words):
        script = fabric.tree() / "share" / "fish" / "vendor_completions.d" / "urnic.fish"
        line = f'source {script}; complete -C "{" ".join(words)}"'
        # Without a description, and a folder without its slash.
        return {offer.split("\t")[0].rstrip("/") for offer in self.fabric.run("fish", "--no-config", "-c", line).splitlines()}


# For a shell with a terminal: offers go to a file instead of the terminal.
ZSH = """
fpath=({functions} $fpath)
autoload -Uz compinit && compinit -u -D
compadd() {{
  # With these, compadd stores what it finds instead of offering it.
  [[ ${{@[1,(i)(-|--)]}} == *(-O|-A|-D)' '* ]] && {{ builtin compadd "$@"; return }}
  local -a offered
  builtin compadd -A offered "$@"
  print -rl -- ${{IPREFIX}}${{^offered}} >>{file}
  builtin compadd "$@"
}}
said_all() {{ print -r -- @end >>{file} }}
show_ready() {{ print -r -- @ready >>{file} }}
look_up() {{ comppostfuncs=(said_all); zle complete-word }}
zle -N zle-line-init show_ready
zle -N look_up
bindkey '^I' look_up
LISTMAX=10000
"""


class Zsh:
    program = "zsh"

    shells = {}

    def shell(self):
        """One that waits for a command line, with its file of offers; another for another environment."""
        key = str(self.fabric.environment)
        if key not in self.shells:
            offers = self.fabric.home / f"offers-{len(self.shells)}"
            setup = self.fabric.home / "setup.zsh"
            setup.write_text(ZSH.format(functions=fabric.tree() / "share" / "zsh" / "site-functions", file=offers))
            shell = self.enterClassContext(terminal.Terminal(self.fabric, "zsh", "-f", "-i"))
            shell.press(f"source {setup}\n")
            shell.read_until(lambda: offers.exists() and "@ready" in offers.read_text(), "zsh's prompt")
            self.shells[key] = shell, offers
        return self.shells[key]

    def complete(self, *words):
        shell, offers = self.shell()
        os.truncate(offers, 0)
        shell.press(" ".join(words) + "\t")
        shell.read_until(lambda: "@end" in offers.read_text(), f"zsh's answer to {words}")
        shell.press("\x15")  # the line goes
        return set(offers.read_text().split("@end")[0].splitlines()) - {""}


class Completion:
    """The tests, for each of the shells."""

    @classmethod
    def setUpClass(cls):
        if shutil.which(cls.program) is None:
            raise unittest.SkipTest(f"{cls.program} is not installed: tools/install-packages test")
        cls.fabric = cls.enterClassContext(fabric.Fabric())
        cls.described = json.loads(cls.fabric.run(cls.fabric.urnic, "--describe"))

    def table(self, *rows):
        for words, expected in rows:
            with self.subTest(words):
                self.assertEqual(self.complete("urnic", *words), expected)

    def commands(self, description, words=()):
        for command in description["commands"]:
            yield (*words, command["name"]), command
            yield from self.commands(command, (*words, command["name"]))

    def test_commands(self):
        names = {command["name"] for command in self.described["commands"]}
        self.assertGreater(len(names), 15)
        self.assertEqual(self.complete("urnic", "") - {"--help", "--version", "-h"}, names)
        self.table((("st",), {"status"}),
                   (("link", "s"), {"show", "set"}),
                   (("wireshark", "i"), {"install"}))

    def test_every_option(self):
        for words, command in self.commands(self.described):
            options = {name for option in command["options"] for name in option["names"] if name.startswith("--")}
            with self.subTest(words):
                self.assertEqual(self.complete("urnic", *words, "--") - {"--"}, options)

    def test_words_that_are_known(self):
        self.table((("link", "set", "--direction", ""), {"tx", "rx", "both"}),
                   (("set", "recovery", "s"), {"selective", "sack"}),
                   (("trace", "--only", "re"), {"retransmission", "refused", "response"}))

    def test_lists(self):
        self.assertEqual(self.complete("urnic", "capture", "--points", "d"), {"dropped"})
        self.assertEqual({offer.removeprefix("before,") for offer in self.complete("urnic", "run", "--points", "before,d")},
                         {"dropped"})

    def test_devices_and_link_settings(self):
        self.fabric.up()
        devices = {*fabric.DEVICES, "all"}
        settings = json.loads(self.fabric.run(self.fabric.urnic, "link", "show", "--json"))["urnic0"]["tx"]["settings"]
        self.table(*((words, devices) for words in (("link", "set", ""), ("link", "show", ""), ("link", "list", ""),
                                                    ("gid", "show", ""), ("capture", "--device", ""),
                                                    ("counters", "--device", ""), ("set", "recovery", "gbn", "--device", ""))),
                   (("gid", "add", ""), set(fabric.DEVICES)),
                   (("link", "set", "--direction", "tx", "all", ""), {f"{name}=" for name in (*settings, "state", "recovery")}))

    def test_device_processes(self):
        own = {"URNIC_DIR": "", "XDG_RUNTIME_DIR": str(self.fabric.home)}
        for name in ("lab", "other"):
            self.fabric.run(self.fabric.urnic, "up", "--name", name, environment=own)
            self.addCleanup(self.fabric.run, self.fabric.urnic, "down", "--name", name, environment=own)
        (self.fabric.home / "urnic" / "gone").mkdir()
        self.enterContext(unittest.mock.patch.object(type(self.fabric), "environment", {**self.fabric.environment, **own}))
        self.table((("status", "--name", ""), {"lab", "other"}), (("down", "--name", "l"), {"lab"}))

    def test_files(self):
        for name in ("lost.pcap", "lost.pcapng", "lost.toml"):
            (self.fabric.home / name).touch()
        (self.fabric.home / "lost-folder").mkdir(exist_ok=True)
        captures = {"lost.pcap", "lost.pcapng"}
        for words in (("capture", "lost"), ("plot", "lost"), ("ladder", "--qp", "0x11", "lost"), ("run", "--capture", "lost")):
            with self.subTest(words):
                self.assertLessEqual(captures, self.complete("urnic", *words))
        self.assertEqual(self.complete("urnic", "fault", "load", "lost.t"), {"lost.toml"})
        self.assertEqual(self.complete("urnic", "run", "--config", "lost.t"), {"lost.toml"})
        self.assertEqual(self.complete("urnic", "lesson", "1", "lost"), {"lost-folder"})

    def test_lessons(self):
        numbers = set(re.findall(r"(?m)^ *(\d+)  ", self.fabric.run(self.fabric.urnic, "lesson")))
        self.assertEqual(len(numbers), len(list(LESSONS.glob("[0-9][0-9]-*"))))
        self.table((("lesson", ""), numbers), (("lesson", "1"), {each for each in numbers if each[0] == "1"}))

    def test_programs(self):
        for words in (("run", "--"), ("run", "--name", "lab", "--"), ("doctor", "--")):
            with self.subTest(words):
                self.assertIn("ibv_devices", self.complete("urnic", *words, "ibv_dev"))


class BashCompletion(Bash, Completion, unittest.TestCase):
    pass


class ZshCompletion(Zsh, Completion, unittest.TestCase):
    pass


class FishCompletion(Fish, Completion, unittest.TestCase):
    pass


if __name__ == "__main__":
    unittest.main()
