#!/usr/bin/env python3
"""Keeps the book in step with the program, or checks that it is.

    python3 book/make.py [--engine FILE]           write outputs, drawings and source into the pages
    python3 book/make.py [--engine FILE] --check   write nothing, fail if anything would change
    python3 book/make.py --no-run [--check]        the same for source and links alone, at once

The pages are ordinary Markdown, complete as they are. In them

* a block that begins with `$ pleach ...` holds a command and what it prints; files that the
  command writes (drawings) belong in book/src/how/lab. After `<!-- measured: ... -->` the block is
  left alone: its numbers depend on the machine or on the engine of that day;
* a block after `<!-- source: FILE [ITEM] -->` holds a file, or one item of a Rust file;
* lines that begin with `pleach` in a block of kind `sh` are run and have to succeed, unless
  `<!-- not run: REASON -->` stands before the block;
* links to files and headings have to lead somewhere.
"""

import argparse
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ROOT / "book" / "src"
DRAWINGS = PAGES / "how" / "lab"
SECONDS = 300
# What commands of the book may find in their working directory.
PROVIDED = ["book", "nets", "tests"]


def item(path, name):
    """The Rust item `name` (function, struct, enum, trait or impl) of a file, without its docs."""
    lines = (ROOT / path).read_text().splitlines()
    head = re.compile(
        rf"^(\s*)(pub(\([a-z]+\))? )?((const|async|unsafe) )*(fn|struct|enum|trait|impl)\b[^;]*\b{name}\b"
    )
    for start, line in enumerate(lines):
        found = head.match(line)
        if found and not line.lstrip().startswith("//"):
            indent = found.group(1)
            for end in range(start, len(lines)):
                if lines[end] == indent + "}":
                    return "\n".join(l.removeprefix(indent) for l in lines[start : end + 1])
    raise SystemExit(f"{path} has no item {name}")


def source(spec):
    path, *name = spec.split()
    if name:
        return item(path, name[0])
    return (ROOT / path).read_text().rstrip("\n")


class Book:
    def __init__(self, engine, check):
        self.engine = engine and str(pathlib.Path(engine).resolve())
        self.check = check
        self.errors = []
        self.counts = {"outputs": 0, "drawings": 0, "commands": 0, "sources": 0, "links": 0}

    def wrong(self, page, line, text):
        self.errors.append(f"{page.relative_to(ROOT)}:{line}: {text}")

    def run(self, command):
        """Runs one command line in a fresh directory: exit code, output, and new files."""
        words = shlex.split(command, comments=True)
        words[0] = self.engine
        with tempfile.TemporaryDirectory() as place:
            for name in PROVIDED:
                (pathlib.Path(place) / name).symlink_to(ROOT / name)
            try:
                done = subprocess.run(
                    words, cwd=place, capture_output=True, text=True, timeout=SECONDS,
                    stdin=subprocess.DEVNULL,
                )
            except subprocess.TimeoutExpired:
                return -1, f"no end within {SECONDS} seconds", {}
            made = {
                path.name: path.read_bytes()
                for path in sorted(pathlib.Path(place).iterdir())
                if path.name not in PROVIDED and path.is_file()
            }
        return done.returncode, done.stdout if done.returncode == 0 else done.stderr, made

    def console(self, page, line, content):
        """A command with its output, run again."""
        # A backslash continues a command in the next line.
        rows = content.split("\n")
        length = 1
        while rows[length - 1].endswith("\\"):
            length += 1
        command = " ".join(row.rstrip("\\").strip() for row in rows[:length]).removeprefix("$ ")
        code, output, made = self.run(command)
        if code != 0:
            self.wrong(page, line, f"{command}: exit code {code}: {output.strip()}")
            return content
        self.counts["outputs"] += 1
        for name, data in made.items():
            if not name.endswith(".svg"):
                continue
            self.counts["drawings"] += 1
            place = DRAWINGS / name
            if self.check and (not place.exists() or place.read_bytes() != data):
                self.wrong(page, line, f"the drawing {name} is not what the command draws now")
            elif not self.check:
                place.write_bytes(data)
        output = "\n".join(row.rstrip() for row in output.rstrip("\n").split("\n"))
        return "\n".join(rows[:length]) + ("\n\n" + output if output else "")

    def shell(self, page, line, content):
        """Commands that have to succeed, whatever they print."""
        for command in re.sub(r"\\\n\s*", " ", content).split("\n"):
            if command.startswith("pleach"):
                code, output, _ = self.run(command)
                self.counts["commands"] += 1
                if code != 0:
                    self.wrong(page, line, f"{command}: exit code {code}: {output.strip()[-200:]}")

    def page(self, page):
        text = page.read_text()
        lines = text.split("\n")
        made, at, note = [], 0, ""
        while at < len(lines):
            opening = re.match(r"^(```+)(\w*)", lines[at])
            if not opening:
                if lines[at].strip():
                    note = lines[at].strip()
                made.append(lines[at])
                at += 1
                continue
            end = next(n for n in range(at + 1, len(lines)) if lines[n].startswith(opening.group(1)))
            content = "\n".join(lines[at + 1 : end])
            new = content
            spec = re.fullmatch(r"<!-- source: (.*) -->", note)
            if spec:
                self.counts["sources"] += 1
                new = source(spec.group(1))
            elif note.startswith("<!-- measured:") or note.startswith("<!-- not run:"):
                pass
            elif self.engine is None:
                pass
            elif content.startswith("$ pleach"):
                new = self.console(page, at + 1, content)
            elif opening.group(2) == "sh":
                self.shell(page, at + 1, content)
            if new != content and self.check:
                self.wrong(page, at + 1, "this block is out of step: run book/make.py\n" + new)
            made += [lines[at], *new.split("\n"), lines[end]]
            note = ""
            at = end + 1
        if not self.check and made != lines:
            page.write_text("\n".join(made))

    def links(self, pages):
        prose = {page: re.sub(r"^(```+).*?^\1", "", page.read_text(), flags=re.M | re.S) for page in pages}
        for page, text in prose.items():
            text = re.sub(r"`[^`\n]*`", "", text)
            for target in re.findall(r"\]\(([^)\s]+)\)", text):
                if re.match(r"[a-z]+:", target):
                    continue
                self.counts["links"] += 1
                path, _, anchor = target.partition("#")
                place = (page.parent / path).resolve() if path else page
                if not place.exists():
                    self.wrong(page, 0, f"the link {target} leads nowhere")
                elif anchor and anchor not in anchors(place.read_text()):
                    self.wrong(page, 0, f"the link {target} names no heading")
        summary = (PAGES / "SUMMARY.md").read_text()
        for page in PAGES.rglob("*.md"):
            name = str(page.relative_to(PAGES))
            if name != "SUMMARY.md" and f"({name})" not in summary:
                self.wrong(page, 0, "not in SUMMARY.md")


def anchors(text):
    """The headings of a page as links name them."""
    text = re.sub(r"^(```+).*?^\1", "", text, flags=re.M | re.S)
    names = []
    for heading in re.findall(r"^#+ (.*)$", text, flags=re.M):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        names.append(re.sub(r"[^\w\- ]", "", plain).replace(" ", "-"))
    return names


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--engine", default=ROOT / "target" / "release" / "pleach")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--no-run", action="store_true", help="only source and links")
    parser.add_argument("pages", nargs="*", help="only these pages")
    arguments = parser.parse_args()
    if arguments.no_run:
        arguments.engine = None
    elif not shutil.which(str(arguments.engine)):
        raise SystemExit(f"no engine at {arguments.engine}: build it, or name it with --engine")
    book = Book(arguments.engine, arguments.check)
    everything = sorted(PAGES.rglob("*.md"))
    everything += [ROOT / name for name in ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"] if (ROOT / name).exists()]
    chosen = [pathlib.Path(page).resolve() for page in arguments.pages] or everything
    for page in chosen:
        book.page(page)
    book.links(everything)
    print(", ".join(f"{count} {what}" for what, count in book.counts.items()))
    for error in book.errors:
        print(error, file=sys.stderr)
    sys.exit(1 if book.errors else 0)


if __name__ == "__main__":
    main()
