"""The commands of urnic, as `urnic --describe` prints them: each option and argument as it was added to the command line."""

import json
import sys

# What Option::suggest may be given. The shells find these themselves:
FOUND_BY_SHELLS = ("file", "folder", "capture", "program")
# ... and these words are what `urnic --suggest WORD` prints (tools/urnic/suggestions.cpp).
FOUND_BY_URNIC = ("device", "one-device", "device-process", "lesson", "link-setting")


class Values:
    """What the value of an option may be, or an argument: `kind` is one of the words above, "choices" or "list" (some of
    the choices, with commas between them), "any", or empty for an option without a value."""

    def __init__(self, option, is_argument):
        self.choices = option["choices"]
        self.name = option["names"][0] if is_argument else option["value"]
        if self.choices:
            self.kind = "list" if option["separates"] else "choices"
        else:
            self.kind = option["suggestion"] or ("any" if is_argument or option["value"] else "")
        if self.kind not in ("", "any", "choices", "list", *FOUND_BY_SHELLS, *FOUND_BY_URNIC):
            sys.exit(f"{option['names'][0]}: no shell knows how to find '{self.kind}': correct Option::suggest")


class Command:
    """A command at the end of `path`, the words behind `urnic`; the command line itself has none."""

    def __init__(self, description, path=()):
        self.path = path
        self.description = description
        self.help = description["help"]
        self.aliases = description["aliases"]
        self.options = [(option, Values(option, False)) for option in description["options"]]
        self.arguments = [(argument, Values(argument, True)) for argument in description["arguments"]]
        self.commands = [Command(command, (*path, command["name"])) for command in description["commands"]]

    @property
    def words(self):
        return " ".join(self.path)

    @property
    def all_words(self):
        """The ways to write the path."""
        return [" ".join((*self.path[:-1], name)) for name in (*self.path[-1:], *self.aliases)] or [""]

    @property
    def runs_program(self):
        return any(values.kind == "program" for _, values in self.arguments)

    def names(self):
        """Its subcommands and their other names, each with its help."""
        for command in self.commands:
            for name in (command.path[-1], *command.aliases):
                yield name, command.help

    def walk(self):
        yield self
        for command in self.commands:
            yield from command.walk()


def read(file):
    with open(file, encoding="utf-8") as stream:
        return Command(json.load(stream))
