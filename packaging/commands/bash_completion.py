#!/usr/bin/python3
"""bash_completion.py DESCRIPTION: prints bash's completion of urnic."""

import pathlib
import shlex
import sys

import description


def words_of(values):
    return " ".join((values.kind, *values.choices))


def function(name, of, rows):
    """A function that looks up its first argument."""
    lines = "".join(f"    {'|'.join(shlex.quote(key) for key in keys)}) echo {shlex.quote(said)} ;;\n" for keys, said in rows)
    return f"# {of}\n{name}() {{\n  case $1 in\n{lines}  esac\n}}\n\n"


def tables(urnic):
    commands = list(urnic.walk())
    yield function("_urnic_commands", "The subcommands of a command.",
                   [(command.all_words, " ".join(name for name, _ in command.names())) for command in commands if command.commands])
    yield function("_urnic_options", "The options of a command.", [
        (command.all_words, " ".join([name for option, _ in command.options for name in option["names"] if name.startswith("--")] +
                                     ["--"] * command.runs_program)) for command in commands])
    yield function("_urnic_value", "What the value of COMMAND OPTION may be; nothing for an option without one.", [
        ([f"{words} {name}" for words in command.all_words for name in option["names"]], words_of(values))
        for command in commands for option, values in command.options if values.kind])
    yield function("_urnic_argument", "What the argument COMMAND NUMBER may be.", [
        ([f"{words} {number}" for words in command.all_words], words_of(values))
        for command in commands for number, (_, values) in enumerate(command.arguments, 1)])
    yield function("_urnic_repeated", "What all arguments of a command behind those with a number may be.", [
        (command.all_words, words_of(values)) for command in commands for argument, values in command.arguments[-1:] if argument["repeats"]])


if __name__ == "__main__":
    print("# bash completion for urnic(1). Made from what the command line itself says of its options.\n")
    print("".join(tables(description.read(sys.argv[1]))), end="")
    print(pathlib.Path(__file__).with_name("completion.bash").read_text(encoding="utf-8"), end="")
