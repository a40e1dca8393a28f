"""The exercises of a lesson, one after another: each is right, or not yet.

A lesson's check.py has a function `exercise_N(work)` for each exercise, which does with the learner's files what the
exercise is about and looks at what happens. It returns a sentence that says what it saw, or raises NotYet.
"""

import pathlib
import re
import runpy
import tempfile
import traceback

from . import descendants
from .harmless_text import harmless
from .not_yet import NotYet
from .progress import Progress
from .work import Work


def find(checks):
    """The exercises of a check.py, as (number, function), in order."""
    found = {int(name[1]): function for text, function in runpy.run_path(str(checks)).items()
             if (name := re.fullmatch(r"exercise_(\d+)", text))}
    return sorted(found.items())


def check(exercises, folder, urnic):
    """Checks exercises with the files in `folder` and prints what was seen. Whether all are right."""
    all_right = True
    descendants.adopt()
    for number, exercise in exercises:
        with tempfile.TemporaryDirectory(prefix="urnic-lesson-") as scratch:
            work = Work(folder.resolve(), pathlib.Path(scratch), urnic)
            try:
                with Progress(f"exercise {number}"):
                    report = [("right", exercise(work))]
            except NotYet as problem:
                all_right = False
                report = [("not yet", problem.seen), ("hint", problem.hint)]
            except (ArithmeticError, LookupError, TypeError, ValueError) as problem:
                all_right = False
                report = [("not yet", f"the check cannot understand what it sees: {problem} ({_place(problem)})"),
                          ("hint", "does the program print, and send, what the lesson asks for?")]
            finally:
                left = descendants.end_all()
        if left:
            report.append(("still", f"runs what could not be ended: {', '.join(left)}"))
        for verdict, text in report:
            print(f"{f'exercise {number}' if verdict not in ('hint', 'still') else '':<12} {verdict:<8} {_indented(text)}", flush=True)
    return all_right


def _place(problem):
    """Where a check did not understand something."""
    frame = traceback.extract_tb(problem.__traceback__)[-1]
    return f"{pathlib.Path(frame.filename).name}, line {frame.lineno}"


def _indented(text):
    return harmless(text).strip().replace("\n", "\n" + " " * 22)
