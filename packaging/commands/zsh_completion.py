#!/usr/bin/python3
"""zsh_completion.py DESCRIPTION: prints zsh's completion of urnic."""

import pathlib
import re
import sys

import description


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def plain(text):
    """A text without meaning for _arguments and _describe."""
    return re.sub(r"([\\\[\]:])", r"\\\1", text)


def action(values):
    if values.kind == "any":
        return " "
    if values.kind == "choices":
        return "(" + " ".join(values.choices) + ")"
    if values.kind == "list":
        return "{_values -s , " + values.name.split(",")[0] + " " + " ".join(values.choices) + "}"
    if values.kind == "file":
        return "_files"
    if values.kind == "folder":
        return "_files -/"
    if values.kind == "capture":
        return '_files -g "*.(pcap|pcapng)(-.)"'
    return f"_urnic_suggest {values.kind}"


def of_option(option, values):
    """A specification for _arguments for each name of the option."""
    names = option["names"]
    is_help = "--help" in names or "--version" in names
    excluded = "- *" if is_help else " ".join((*([] if option["repeats"] else names), *option["excludes"]))
    value = f":{plain(values.name)}:{action(values)}" if values.kind else ""
    for name in names:
        yield quoted(("(" + excluded + ")" if excluded else "") + ("*" if option["repeats"] and not is_help else "") +
                     f"{name}[{plain(option['help'])}]{value}")


def specifications(command):
    for option, values in command.options:
        yield from of_option(option, values)
    for number, (argument, values) in enumerate(command.arguments, 1):
        if values.kind == "program":
            yield quoted("(-)*:::" + plain(values.name) + ": _normal")
            continue
        place = "*" if argument["repeats"] else str(number)
        optional = "" if argument["required"] or place == "*" else ":"
        yield quoted(f"{place}:{optional}{plain(values.name)}:{action(values)}")


def function_name(words):
    return "_urnic" + "".join(f"_{word}" for word in words)


def function(command):
    """A function of zsh that completes the words of the command."""
    lines = [f"{function_name(command.path)}() {{"]
    specs = list(specifications(command))
    if not command.commands:
        lines += ["  _arguments -s -S \\", *(f"    {spec} \\" for spec in specs[:-1]), f"    {specs[-1]}", "}"]
        return "\n".join(lines) + "\n"
    lines += ["  local curcontext=$curcontext context state state_descr line", "  local -A opt_args", "  local -a subcommands=("]
    lines += [f"    {quoted(f'{name}:{plain(said)}')}" for name, said in command.names()]
    lines += ["  )", "  _arguments -C \\", *(f"    {spec} \\" for spec in specs), "    '1:command:->command' '*:: :->words' && return"]
    lines += ["  case $state in", "    command) _describe -t commands command subcommands ;;", "    words)",
              "      curcontext=${curcontext%:*}-$line[1]:", "      case $line[1] in"]
    for each in command.commands:
        lines.append(f"        {'|'.join((each.path[-1], *each.aliases))}) {function_name(each.path)} ;;")
    return "\n".join(lines + ["      esac ;;", "  esac", "}"]) + "\n"


if __name__ == "__main__":
    print("#compdef urnic\n# zsh completion for urnic(1). Made from what the command line itself says of its options.\n")
    for each in list(description.read(sys.argv[1]).walk())[::-1]:
        print(function(each))
    print(pathlib.Path(__file__).with_name("completion.zsh").read_text(encoding="utf-8"), end="")
