"""A lesson's page, which is Markdown, on a terminal: lines as wide as the terminal, headings in bold, a pager."""

import itertools
import os
import re
import shutil
import subprocess
import sys
import textwrap

WIDEST = 110  # a longer line is hard to read


def _plain(text):
    """Without what Markdown has for links and emphasis."""
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"\*\*([^*]+)\*\*", r"\1", text)


def _blocks(text):
    """The parts between empty lines; a code block is one part."""
    block, in_code = [], False
    for line in text.split("\n"):
        in_code ^= line.startswith("```")
        if line or in_code:
            block.append(line)
        elif block:
            yield block
            block = []
    if block:
        yield block


def _filled(block, width):
    """A paragraph, or a list of which each item is one."""
    item = re.compile(r"(\s*)([-*]|\d+\.) ")
    paragraphs = []
    for line in block:
        if item.match(line) or not paragraphs:
            paragraphs.append(line)
        else:
            paragraphs[-1] += " " + line.strip()
    for paragraph in paragraphs:
        found = item.match(paragraph)
        yield textwrap.fill(_plain(paragraph), width, subsequent_indent=" " * (found.end() if found else 0),
                            break_long_words=False, break_on_hyphens=False)


def _column_widths(rows, width):
    """How wide each column may be, so that a row fits: narrow columns as they are, the others share the rest."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    rest, wide = width - 2 * (len(widths) - 1), sorted(range(len(widths)), key=lambda column: widths[column])
    for place, column in enumerate(wide):
        widths[column] = min(widths[column], max(rest // (len(wide) - place), 1))
        rest -= widths[column]
    return widths


def _table(block, width):
    """A table, its cells wrapped."""
    rows = [[_plain(cell.strip()) for cell in line.strip("|").split("|")] for line in block]
    rows = [row for row in rows if not re.fullmatch(r"[-| ]+", "|".join(row))]
    widths = _column_widths(rows, width)
    for row in [rows[0], ["-" * size for size in widths], *rows[1:]]:
        cells = [textwrap.wrap(cell, size, break_on_hyphens=False) for cell, size in zip(row, widths)]
        for parts in itertools.zip_longest(*cells, fillvalue=""):
            yield "  ".join(part.ljust(size) for part, size in zip(parts, widths)).rstrip()


def render(text, width, bold):
    """The page as lines of text; `bold` says whether headings may have a terminal's codes for that."""
    lines = []
    for block in _blocks(text):
        if block[0].startswith("```"):
            lines += ["    " + line for line in block if not line.startswith("```")]
        elif block[0].startswith("#"):
            heading = _plain(block[0].lstrip("# "))
            lines.append(f"\033[1m{heading}\033[0m" if bold else heading)
        elif block[0].startswith("|"):
            lines += _table(block, width)
        else:
            lines += _filled(block, width)
        lines.append("")
    return "\n".join(lines[:-1])


def _width():
    return min(shutil.get_terminal_size().columns, WIDEST)


def say(text):
    """Prints a paragraph."""
    print("\n" + textwrap.fill(text, _width(), break_long_words=False, break_on_hyphens=False))


def show(text):
    """Prints the page; on a terminal that is too low for it, with a pager."""
    size = shutil.get_terminal_size()
    interactive = sys.stdout.isatty()
    rendered = render(text, _width(), interactive)
    pager = os.environ.get("PAGER", "less")
    if interactive and rendered.count("\n") >= size.lines - 3 and shutil.which(pager):
        subprocess.run([pager], input=rendered + "\n", text=True, check=False,
                       env={**os.environ, "LESS": os.environ.get("LESS", "FRX")})
    else:
        print(rendered)
