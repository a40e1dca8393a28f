#!/usr/bin/python3
"""fish_completion.py DESCRIPTION: prints fish's completion of urnic."""

import pathlib
import sys

import description


def quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def offer(values):
    """The arguments of fish's `complete` for a value."""
    if values.kind == "any":
        return "-x"
    if values.kind == "choices":
        return f"-x -a {quoted(' '.join(values.choices))}"
    if values.kind == "list":
        return f"-x -a {quoted('(__urnic_list ' + ' '.join(values.choices) + ')')}"
    if values.kind == "file":
        return "-r -F"
    if values.kind == "folder":
        return "-x -a '(__fish_complete_directories)'"
    if values.kind == "capture":
        return "-r -k -a '(__urnic_captures)'"
    if values.kind == "program":
        return "-x -a '(__urnic_program)'"
    return f"-x -a '(urnic --suggest {values.kind} 2>/dev/null)'"


def of_command(command):
    here = " ".join(quoted(words) for words in command.all_words)
    for name, said in command.names():
        yield f"complete -c urnic -n {quoted(f'__urnic_at 1 {here}')} -a {name} -d {quoted(said)}"
    for option, values in command.options:
        names = " ".join((f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}") for name in option["names"])
        value = f" {offer(values)}" if values.kind else ""
        yield f"complete -c urnic -n {quoted(f'__urnic_on {here}')} {names}{value} -d {quoted(option['help'])}"
    for number, (argument, values) in enumerate(command.arguments, 1):
        place = f"'{number}-'" if argument["repeats"] or values.kind == "program" else str(number)
        if values.kind != "any":
            yield f"complete -c urnic -n {quoted(f'__urnic_at {place} {here}')} {offer(values)} -d {quoted(values.name)}"


def tables(urnic):
    commands = list(urnic.walk())
    yield "# The commands, as words behind urnic; those that run a program; the options that have a value, behind their command."
    yield "set -g __urnic_commands " + " ".join(quoted(words) for command in commands[1:] for words in command.all_words)
    yield "set -g __urnic_runs_program " + " ".join(quoted(words) for command in commands if command.runs_program
                                                   for words in command.all_words)
    yield "set -g __urnic_valued " + " ".join(quoted(f"{words} {name}") for command in commands for words in command.all_words
                                             for option, values in command.options if values.kind for name in option["names"])
    yield "complete -c urnic -f"
    for command in commands:
        yield from of_command(command)


if __name__ == "__main__":
    print("# fish completion for urnic(1). Made from what the command line itself says of its options.\n")
    print(pathlib.Path(__file__).with_name("completion.fish").read_text(encoding="utf-8"))
    print("\n".join(tables(description.read(sys.argv[1]))))
