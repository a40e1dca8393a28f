"""What `urnic lesson` does: lists the lessons, shows one, prepares the learner's folder, checks it, shows a solution.

    lesson.py --urnic PROGRAM --lessons FOLDER [--number=N [--folder=FOLDER] [--check | --exercise=N | --solution]]

Exit status: 0, 1 (an exercise is not right, or something failed), 2 (wrong arguments).
"""

import argparse
import pathlib
import signal
import sys

import folders
import page
from checking import exercises


class WrongUsage(Exception):
    """The arguments mean nothing. The message says what they may be."""


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--urnic", type=pathlib.Path, required=True)
    parser.add_argument("--lessons", type=pathlib.Path, required=True)
    parser.add_argument("--number")
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--exercise")
    parser.add_argument("--solution", action="store_true")
    return parser.parse_args()


def find(lessons, number):
    found = {lesson.number: lesson for lesson in folders.all_lessons(lessons)}
    if not number.isdecimal() or int(number) not in found:
        raise WrongUsage(f"there is no lesson '{number}': they are numbered from 1 to {max(found)}")
    return found[int(number)]


def show_list(lessons):
    for lesson in folders.all_lessons(lessons):
        print(f"{lesson.number:>3}  {lesson.title}")
        print(f"     {lesson.question}")
    print("\n'urnic lesson 1' begins.")


def begin(lesson, folder):
    new = folders.put(lesson.start, folder)
    page.show(lesson.page.read_text(encoding="utf-8"))
    told = f"new there: {', '.join(new)}" if new else "all files of this lesson are there, and stay as they are"
    page.say(f"Your folder for this lesson is {folder}; {told}.")


def check(lesson, folder, urnic, only):
    if not folder.is_dir():
        raise WrongUsage(f"there is no folder {folder}: 'urnic lesson {lesson.number}' makes it, "
                         f"or name yours: urnic lesson {lesson.number} FOLDER --check")
    lacking = lesson.lacking_packages()
    if lacking:
        print(f"this lesson needs {', '.join(lacking)}: apt install {' '.join(lacking)}")
        return False
    found = exercises.find(lesson.checks)
    if only is not None:
        found = [(number, function) for number, function in found if str(number) == only]
    if not found:
        raise WrongUsage(f"lesson {lesson.number} has no exercise {only}")
    return exercises.check(found, folder, urnic)


def show_solution(lesson, folder):
    solution = folder / "solution"
    folders.put(lesson.solution, solution)
    page.show((lesson.solution / "README.md").read_text(encoding="utf-8") + "\n" + lesson.changes())
    page.say(f"The files are in {solution}. Check them: urnic lesson {lesson.number} {solution} --check")


def default_folder(lesson):
    """./urnic-lesson-N, or the present folder if that is it."""
    name = f"urnic-lesson-{lesson.number}"
    return pathlib.Path("." if pathlib.Path.cwd().name == name else name)


def main():
    options = arguments()
    if options.number is None:
        if options.check or options.exercise or options.solution:
            raise WrongUsage("which lesson? Such as: urnic lesson 1 --check")
        return show_list(options.lessons)
    checks = options.check or options.exercise is not None
    if checks and options.solution:
        raise WrongUsage("--check and --solution are two requests: ask for one of them")
    lesson = find(options.lessons, options.number)
    folder = options.folder or default_folder(lesson)
    if checks:
        return None if check(lesson, folder, options.urnic, options.exercise) else 1
    return show_solution(lesson, folder) if options.solution else begin(lesson, folder)


def end(number, _):
    """Ends this program as the signal would, but with all that it has begun."""
    sys.exit(128 + number)


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # whoever reads the page may stop reading
    for ending in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, end)
    try:
        sys.exit(main())
    except WrongUsage as problem:
        print(f"urnic: {problem}", file=sys.stderr)
        sys.exit(2)
    except OSError as problem:
        sys.exit(f"urnic: {problem}")
    except KeyboardInterrupt:
        sys.exit(130)
