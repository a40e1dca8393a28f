#!/usr/bin/python3
"""manual_pages.py DESCRIPTION PROSE FOLDER COMMAND...: writes a manual page for urnic and for each of its commands into
FOLDER, which has pages of nothing else. COMMAND is pandoc, which makes a page of Markdown.

The folder PROSE has, in files such as `urnic-run.md`, the sections that no command line can know, each once: DESCRIPTION
stands in front of the options, sections of the same names as made ones stand in their places, all others behind the
options. A command without such a file has the page that its --help makes."""

import pathlib
import re
import shutil
import subprocess
import sys

import description

# The same text in --help, where no page can be named.
PAGES = {"docs/configuration.md": "urnic-configuration(5)"}


def plain(text):
    """A text of --help, without meaning for Markdown."""
    for document, page in PAGES.items():
        text = text.replace(document, page)
    return re.sub(r"([\\`*_\[\]<>|~^$#@-])", r"\\\1", text.replace("\n", " "))


def sentence(text):
    return plain(text) + ("" if text.endswith(".") else ".")


def value(name):
    """What stands for a value: names in upper case in italics, words as they are."""
    return re.sub(r"[A-Z][A-Z0-9]*", r"*\g<0>*", re.sub(r"([|_])", r"\\\1", name))


def argument_in_synopsis(argument, values):
    text = value(values.name) + ("..." if argument["repeats"] else "")
    if values.kind == "program":
        text = "**\\--** " + text
    return text if argument["required"] else f"\\[{text}\\]"


def synopsis(command):
    words = ["**urnic " + command.words + "**", "\\[*OPTION*...\\]"]
    return " ".join(words + [argument_in_synopsis(*each) for each in command.arguments])


def entry(term, option, values):
    text = sentence(option["help"])
    if values.kind == "choices" and not all(choice in option["help"] for choice in values.choices):
        text += " One of " + ", ".join(f"**{plain(choice)}**" for choice in values.choices) + "."
    if option["default"]:
        text += f" Default: {plain(option['default'])}."
    if option["excludes"]:
        text += " Not together with " + ", ".join(f"**{plain(name)}**" for name in option["excludes"]) + "."
    return f"{term}\n:   {text}\n\n"


def entries(command):
    """The arguments and options, as a definition list."""
    text = "".join(entry(value(values.name), argument, values) for argument, values in command.arguments)
    for option, values in command.options:
        names = ", ".join(f"**{plain(name)}**" for name in option["names"])
        text += entry(names + (" " + value(values.name) if values.kind else ""), option, values)
    return text


def paragraphs(command):
    """What --help says behind the options."""
    return f"{plain(command.description['notes'])}\n\n" if command.description["notes"] else ""


def subcommands(command):
    for each in command.commands:
        also = [f"Also **urnic {words}**." for words in each.all_words[1:]]
        yield f"## {synopsis(each)}\n\n{' '.join([sentence(each.help), *also])}\n\n{paragraphs(each)}{entries(each)}"


def list_of_commands(urnic):
    return "".join(f"**urnic-{command.words}**(1)\n:   {sentence(command.help)}\n\n" for command in urnic.commands)


def examples(command):
    return "".join(f"    {example}\n" for example in dict.fromkeys(
        example for each in command.walk() for example in each.description["examples"])) + "\n"


def made_sections(urnic, command):
    """Name and text of each section, in the order of the page; DESCRIPTION is where the prose's is put."""
    leaves = [each for each in command.walk() if not each.commands]
    name = command.help[:1].lower() + command.help[1:]
    yield "NAME", f"urnic-{command.words} - {plain(name)}\n\n"
    yield "SYNOPSIS", "\n\n".join(synopsis(each) for each in leaves) + "\n\n"
    yield "DESCRIPTION", "" if command.commands else paragraphs(command)
    if command is urnic:
        yield "COMMANDS", list_of_commands(urnic)
    elif command.commands:
        yield "COMMANDS", "".join(subcommands(command))
    yield "OPTIONS", "" if command.commands and command is not urnic else entries(command)
    yield "EXAMPLES", examples(command)
    yield "SEE ALSO", "**urnic**(1)\n\n"


def prose_sections(file):
    sections = re.split(r"(?m)^# (.*)\n+", file.read_text(encoding="utf-8") if file else "")[1:]
    return dict(zip(sections[::2], sections[1::2]))


def page(urnic, command, prose):
    made = dict(made_sections(urnic, command))
    own = {name: text.strip() + "\n\n" for name, text in prose.items()}
    own["DESCRIPTION"] = own.get("DESCRIPTION", sentence(command.help) + "\n\n") + made["DESCRIPTION"]
    if command is not urnic and "SEE ALSO" in own:
        own["SEE ALSO"] = made["SEE ALSO"].strip() + ", " + own["SEE ALSO"]
    before = [name for name in made if name not in ("EXAMPLES", "SEE ALSO")]
    order = [*before, *(name for name in own if name not in made), "EXAMPLES", "SEE ALSO"]
    return "".join(f"# {name}\n\n{text}" for name in order if (text := own.get(name, made[name] if name in made else "")))


def main(described, prose_folder, folder, *pandoc):
    urnic = description.read(described)
    pages = {"-".join(("urnic", *command.path)): command for command in (urnic, *urnic.commands)}
    prose = {file.stem: file for file in pathlib.Path(prose_folder).glob("urnic-*.md")}
    if nameless := sorted(set(prose) - set(pages)):
        sys.exit(f"{prose[nameless[0]]}: urnic has no such command")
    prose["urnic"] = pathlib.Path(prose_folder) / "urnic.md"
    shutil.rmtree(folder, ignore_errors=True)
    pathlib.Path(folder).mkdir(parents=True)
    for name, command in pages.items():
        markdown = page(urnic, command, prose_sections(prose.get(name)))
        subprocess.run([*pandoc, "--metadata", f"title={name}", "--metadata", "section=1", "--output", f"{folder}/{name}.1"],
                       input=markdown, text=True, check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
