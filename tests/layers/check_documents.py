#!/usr/bin/python3
"""Whether every name in a document names something: files and folders of the sources, links, tests in the rule
tables, commands and options of urnic, keys of the configuration.

    check_documents.py              checks all documents (*.md), that READMEs name every file of their folder, and
                                    the documents that comments in the code name
    check_documents.py FILE.md...   checks these only

Prints FILE:LINE, the name and what to do about it. Names are looked for in `backquotes`, in code blocks and in links.
"""

import fnmatch
import os
import pathlib
import re
import sys

SOURCES = pathlib.Path(__file__).resolve().parents[2]
TOP_FOLDERS = "analysis device_model script provider tests tools web docs wire trust cmake systemd packaging debian .ci .devcontainer".split()
# A name that ends so is a file of the sources, wherever it is.
SUFFIXES = ".cpp .hpp .c .py .md .lua .svg .js .css .html .cmake .bash".split()
# Words that stand for any name, and the beginnings of names that are not of the sources.
PLACEHOLDERS = {"fuzz_NAME.cpp", "suite/case", "lossy.svg", "gbn.svg", "sack.svg", "off.svg", "dcqcn.svg", "steep.svg", "rtt.svg",
                "incast.svg"}
ELSEWHERE = ("/", "build/", "share/urnic/", "Documentation/")
# In these documents `suite/case` is a Boost.Test case.
NAMES_TESTS = ("docs/rules/", "docs/security.md")
# In the tables of these documents the first column has keys, which these sources read.
NAMES_KEYS = {"docs/configuration.md": ("device_model/control/fabric", ), "docs/faults.md": ("device_model/fault", )}


def sources():
    """All files, as paths below SOURCES, without those of git, builds and editors."""
    for entry in sorted(SOURCES.iterdir()):
        if entry.name.startswith("build") or (entry.name.startswith(".") and entry.is_dir() and entry.name not in (".ci", ".devcontainer")):
            continue
        for file in [entry] if entry.is_file() else sorted(entry.rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts:
                yield str(file.relative_to(SOURCES))


def read(path):
    return (SOURCES / path).read_text(encoding="utf-8", errors="replace")


class Names:
    """What documents may name."""

    def __init__(self):
        self.files = set(sources())
        self.folders = {str(parent) for file in self.files for parent in pathlib.PurePath(file).parents}
        # Every end of every path, with the suffix of the file's name and without: "engine/device.cpp", "device".
        self.ends = set()
        for file in self.files | self.folders:
            parts = file.split("/")
            for i in range(len(parts)):
                end = "/".join(parts[i:])
                self.ends |= {end, re.sub(r"(?<=[^/])\.\w+$", "", end)}
        tests = [file for file in self.files if re.match(r"tests/.*\.(cpp|hpp)$", file)]
        self.tests = {case for file in tests for case in cases(read(file))}
        code = "\n".join(read(file) for file in self.files if file.startswith("tools/urnic/"))
        self.options = set(re.findall(r'"(--[a-z-]+)"', code)) | {"--help", "--version"}
        self.commands = set(re.findall(r'add_subcommand\("([a-z-]+)"', code))

    def is_end(self, name):
        return name in self.ends or ("*" in name and bool(fnmatch.filter(self.ends, name)))

    def is_below(self, folder, name):
        """Whether `name`, with a suffix or without, is a file or folder in `folder`."""
        path = f"{folder}/{name}" if folder != "." else name
        return path in self.folders or bool(fnmatch.filter(self.files, path) or fnmatch.filter(self.files, path + ".*"))

    def is_test(self, name):
        return bool(fnmatch.filter(self.tests, name))

    def is_key(self, key, folders):
        return any(f'"{key}"' in read(file) for file in self.files if file.startswith(folders))


def cases(code):
    """The tests of a file, as "suite/case"; nested suites as "outer/inner/case"."""
    suites = []
    for macro, name in re.findall(r"\bBOOST_(\w+)\(\s*(\w*)", code):
        if macro.endswith("TEST_SUITE"):
            suites.append(name)
        elif macro == "AUTO_TEST_SUITE_END" and suites:
            suites.pop()
        elif "TEST_CASE" in macro:
            yield "/".join([*suites, name])


def anchors(path):
    """The anchors of a document's headings, as GitHub makes them."""
    for heading in re.findall(r"^#+ (.*)$", read(path), re.MULTILINE):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading.replace("`", "")).lower()
        yield re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


def quoted(line, in_block):
    """The names in a line: what stands in backquotes, or all of it in a code block."""
    return [line.strip()] if in_block else re.findall(r"`([^`]+)`", line)


class Document:
    def __init__(self, path, names):
        self.path, self.names = path, names
        self.folder = str(pathlib.PurePath(path).parent)

    def problems(self):
        in_block, header = False, []
        for number, line in enumerate(read(self.path).split("\n"), 1):
            if line.startswith("```"):
                in_block = not in_block
                continue
            indented = line.startswith("    ")
            cells = [] if in_block or not line.startswith("|") else [cell.strip() for cell in line.split("|")[1:-1]]
            header = (header or cells) if cells else []
            found = [] if in_block or indented else list(self.wrong_links(line))
            for text in quoted(line, in_block or indented):
                found += self.wrong_names(text)
            for column, cell in zip(header, cells):
                found += self.wrong_cells(column, cell) if cells is not header else []
            for problem in dict.fromkeys(found):
                yield f"{self.path}:{number}: {problem}"

    def wrong_links(self, line):
        for target in re.findall(r"\]\(([^)\s]+)\)", line):
            if re.match(r"\w+:", target):
                continue
            file, _, anchor = target.partition("#")
            path = os.path.normpath(os.path.join(self.folder, file)) if file else self.path
            if path not in self.names.files | self.names.folders:
                yield f"the link {target} leads nowhere: correct it"
            elif anchor and anchor not in anchors(path):
                yield f"{path} has no heading for #{anchor}: correct the link"

    def wrong_names(self, text):
        for word in text.split():
            name = word.rstrip(".,:;)").lstrip("(").rstrip("/").removeprefix("./")
            if name in PLACEHOLDERS or name.startswith(ELSEWHERE):
                continue
            if self.is_wrong_file(name):
                yield f"there is no {name}: name the file or folder that has it now"
            elif (self.path.startswith(NAMES_TESTS) and re.fullmatch(r"[a-z]\w*(/\w[\w*]*)+|[a-z]\w*/\*", name) and
                  not self.names.is_end(name) and not self.names.is_test(name)):
                yield f"there is no test {name}: name the one that holds the rule, as suite/case"
        command = re.match(r"(?:\$ )?(?:\w+/)*urnic ([a-z]+(?:-[a-z]+)*)(.*)", text)
        if command and command[1] not in self.names.commands:
            yield f"urnic has no command {command[1]}: correct it"
        for option in re.findall(r"(?<=\s)--[a-z][a-z-]*", command[2].split(" -- ")[0]) if command else []:
            if option not in self.names.options:
                yield f"urnic has no option {option}: correct the command"

    def is_wrong_file(self, name):
        if not re.fullmatch(r"[\w.*/-]+", name):
            return False
        if name.split("/")[0] in TOP_FOLDERS and "/" in name:
            return not self.names.is_below(".", name) and not self.names.is_below(self.folder, name)
        if not name.endswith(tuple(SUFFIXES)) or name in SUFFIXES:
            return False
        return not self.names.is_below(self.folder, name.removeprefix("../")) and not self.names.is_end(
            name.removeprefix("../"))

    def wrong_cells(self, column, cell):
        stems = [name for name in re.findall(r"`([^`]+)`", cell) if re.fullmatch(r"[\w.*/-]+", name)]
        if column == "file":
            # A README's table is about its folder and the rooms in it.
            readme = self.path.endswith("README.md")
            for name in stems:
                if not (self.names.is_below(self.folder, name) or self.names.is_below(self.folder + "/*", name)
                        if readme else self.names.is_end(name)):
                    yield f"there is no file {name}" + (" in this folder" if readme else "") + ": correct the table"
        if column in ("key", "`action`") and self.path in NAMES_KEYS:
            for name in stems:
                if not self.names.is_key(name, NAMES_KEYS[self.path]):
                    yield f"no code reads the key {name}: correct the table"


def wrong_mentions(names):
    """Documents that comments and messages in the code name."""
    for file in sorted(names.files):
        if not file.endswith((".cpp", ".hpp", ".c", ".py", ".txt", ".cmake", ".in", ".toml")) or file.endswith(
                "check_documents.py"):
            continue
        for number, line in enumerate(read(file).split("\n"), 1):
            for document in re.findall(r"(?<![\w/.])docs/[\w/-]+\.\w+", line):
                if document not in names.files:
                    yield f"{file}:{number}: there is no {document}: name the document that has it now"


def missing_rows(names):
    """Files of the product that their folder's README, if it has a table of files, does not name."""
    for readme in sorted(names.files):
        if not re.match(r"(analysis|device_model|provider|script|trust|wire|web/server)/.*README\.md", readme) or "| file |" not in read(readme):
            continue
        folder = str(pathlib.PurePath(readme).parent)
        named = {re.sub(r"\.\w+$", "", name) for name in re.findall(r"`([\w.*]+)`", read(readme))}
        for file in sorted(names.files):
            stem, suffix = os.path.splitext(file.removeprefix(folder + "/"))
            if suffix in (".cpp", ".hpp") and os.path.dirname(file) == folder and not any(
                    fnmatch.fnmatch(stem, name) for name in named):
                yield f"{readme}: {stem + suffix} has no row: add it to the table of files"


def self_test(names):
    document = Document("docs/rules/responder.md", names)
    assert list(document.wrong_names("device_model/no_such_file.cpp"))
    assert list(document.wrong_names("no_such_file.cpp"))
    assert list(document.wrong_names("no_such_suite/no_such_case"))
    assert list(document.wrong_names("urnic run --no-such-option -- true"))
    assert list(document.wrong_names("urnic no-such-command"))
    assert list(document.wrong_links("[text](no-such-page.md), [text](#no-such-heading)"))
    assert list(document.wrong_cells("file", "`no_such_file`"))
    assert list(Document("docs/configuration.md", names).wrong_cells("key", "`no_such_key`"))
    assert not list(document.wrong_names("tests/layers/check_documents.py"))
    assert not list(document.wrong_links("[text](README.md)"))


def main():
    names = Names()
    self_test(names)
    named = [str(pathlib.Path(argument).resolve().relative_to(SOURCES)) for argument in sys.argv[1:]]
    documents = named or sorted(file for file in names.files if file.endswith(".md"))
    problems = [problem for path in documents for problem in Document(path, names).problems()]
    problems += [] if named else [*missing_rows(names), *wrong_mentions(names)]
    for problem in problems:
        print(problem)
    print(f"{len(documents)} documents, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
