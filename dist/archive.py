#!/usr/bin/env python3
"""Makes what users download: one archive for each kind of system, the source, and checksums.

    dist/archive.py [--profile PROFILE] [--no-build] [SYSTEM...]
    dist/archive.py --list

An archive holds the program, README, LICENSE, CHANGELOG, CONTRIBUTING, the licences of the
libraries that it is built from, and the rendered book with its trees. Without SYSTEM the three that
can be made on Linux are made: linux-x86-64, linux-aarch64 and windows-x86-64. Archives and
SHA256SUMS are written to target/dist; archives of the same version that are there are removed first,
so that all come from one run: name all systems that are wanted. What is missing on this machine is listed with the command
that installs it, before anything is built. Nothing here tries the archives: that is dist/try.py.

The program for this machine's own kind of system is optimised by what `bench` executes
(dist/pgo.sh); those for others are not, since it would have to run in an emulator first.
"""

import argparse
import gzip
import hashlib
import io
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from dataclasses import dataclass, field

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "target" / "dist"
TEXTS = ["README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md"]
# Sections of README that are for those who have the source.
SOURCE_SECTIONS = ["Two commands", "Read more", "Work on it"]
# What README has in an archive before the section on playing.
FIRST_STEPS = """## First steps

```sh
./pleach analyse startpos --movetime 5000
```

(`pleach.exe` on Windows) shows a search of five seconds: the board, the best line at each depth, the
score in pawns, and the best move. The program needs no other file. The guide is `book/index.html`.

"""
# What a library's licence file is called.
LICENCE_FILE = re.compile(r"(licen[sc]e|copying|copyright|notice|unlicense)", re.IGNORECASE)
# Fully static: the program needs no library of the system, and so no particular version of one.
STATIC = "-C target-feature=+crt-static"


@dataclass(frozen=True)
class System:
    """A kind of system that archives are made for."""

    target: str
    """Rust's name for it."""
    rustflags: str = ""
    linker: str = ""
    """Needed where this machine is of another kind; empty if only such a machine can build it."""
    package: str = ""
    """Debian's package of the linker."""
    windows: bool = False

    def native(self):
        """Whether the compiler makes programs for this system without a linker named."""
        return self.target == host()

    def counted(self):
        """Whether its program is optimised by counts; they are made by a script for a Unix shell."""
        return self.native() and not self.windows


@dataclass
class Missing:
    """What this machine lacks, each with the command that installs it."""

    lines: list = field(default_factory=list)

    def add(self, what, command):
        self.lines.append(f"{what} is missing: {command}")


SYSTEMS = {
    "linux-x86-64": System(
        "x86_64-unknown-linux-gnu", STATIC, "x86_64-linux-gnu-gcc", "gcc-x86-64-linux-gnu"
    ),
    "linux-aarch64": System(
        "aarch64-unknown-linux-gnu", STATIC, "aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu"
    ),
    "windows-x86-64": System(
        "x86_64-pc-windows-gnu", STATIC, "x86_64-w64-mingw32-gcc", "gcc-mingw-w64-x86-64", windows=True
    ),
    "windows-x86-64-msvc": System("x86_64-pc-windows-msvc", STATIC, windows=True),
    "macos-aarch64": System("aarch64-apple-darwin"),
    "macos-x86-64": System("x86_64-apple-darwin"),
}
DEFAULT = ["linux-x86-64", "linux-aarch64", "windows-x86-64"]


def output(*command):
    # What goes wrong is said on stderr.
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout


def host():
    return re.search(r"^host: (.*)$", output("rustc", "-vV"), re.MULTILINE).group(1)


def profdata():
    """The program that adds up counts."""
    sysroot = pathlib.Path(output("rustc", "--print", "sysroot").strip())
    return sysroot / "lib" / "rustlib" / host() / "bin" / "llvm-profdata"


def metadata(target):
    """What cargo knows of the package and of all that goes into it for a target."""
    return json.loads(
        output("cargo", "metadata", "--locked", "--format-version=1", "--filter-platform", target)
    )


def missing(systems):
    """Everything that has to be installed before these systems' archives can be made."""
    found = Missing()
    if not shutil.which("mdbook"):
        found.add("mdbook, which renders the book,", "cargo install mdbook")
    installed = output("rustup", "target", "list", "--installed").split() if shutil.which("rustup") else None
    for name, system in systems.items():
        if installed is not None and system.target not in installed:
            found.add(f"{name}: Rust's library", f"rustup target add {system.target}")
        if system.counted() and not profdata().exists():
            found.add(f"{name}: llvm-profdata", "rustup component add llvm-tools")
        if system.native():
            continue
        if not system.linker:
            if not (platform.system() == "Darwin" and "apple" in system.target):
                found.add(f"{name}: a linker", "make this archive on a machine of that kind")
        elif not shutil.which(system.linker):
            found.add(f"{name}: {system.linker}", f"apt-get install {system.package}")
    return found.lines


def program_file(system, profile):
    """Where cargo leaves the program."""
    folder = "debug" if profile == "dev" else profile
    return ROOT / "target" / system.target / folder / ("pleach.exe" if system.windows else "pleach")


def build(system, profile):
    """Builds the program."""
    environment = dict(os.environ)
    # No path of this machine in the program.
    cargo_home = os.environ.get("CARGO_HOME", pathlib.Path.home() / ".cargo")
    flags = [*system.rustflags.split(), f"--remap-path-prefix={cargo_home}=cargo"]
    flags.append(f"--remap-path-prefix={ROOT}=pleach")
    if system.counted():
        counts = output(ROOT / "dist" / "pgo.sh", "--counts", profile).strip()
        flags.append(f"-Cprofile-use={counts}")
    # Unlike RUSTFLAGS it allows spaces in paths.
    environment["CARGO_ENCODED_RUSTFLAGS"] = "\x1f".join(flags)
    if system.linker and not system.native():
        variable = system.target.upper().replace("-", "_")
        environment[f"CARGO_TARGET_{variable}_LINKER"] = system.linker
    subprocess.run(
        [
            "cargo", "build", "--locked", "--bin", "pleach", "--profile", profile,
            "--target", system.target, "--target-dir", "target",
        ],
        cwd=ROOT, env=environment, check=True,
    )


def licences(target):
    """The licences of the libraries in the program: name, version, terms, and their texts once."""
    known = metadata(target)
    packages = {package["id"]: package for package in known["packages"]}
    nodes = {node["id"]: node for node in known["resolve"]["nodes"]}
    wanted, waiting = set(), [known["resolve"]["root"]]
    while waiting:
        for dependency in nodes[waiting.pop()]["deps"]:
            # Libraries of tests and build scripts are not in the program.
            linked = any(kind["kind"] is None for kind in dependency["dep_kinds"])
            if linked and dependency["pkg"] not in wanted:
                wanted.add(dependency["pkg"])
                waiting.append(dependency["pkg"])
    texts, rows = {}, []
    for package in sorted((packages[each] for each in wanted), key=lambda each: (each["name"], each["version"])):
        name = f"{package['name']} {package['version']}"
        rows.append(f"{name}: {package['license'] or 'see its text'}")
        for path in sorted(pathlib.Path(package["manifest_path"]).parent.iterdir()):
            if path.is_file() and LICENCE_FILE.match(path.name):
                text = path.read_text(encoding="utf-8", errors="replace").strip().replace("\r\n", "\n")
                texts.setdefault(text, []).append(name)
    parts = ["The libraries that the program is built from, and their licences.", "\n".join(rows)]
    for text, names in texts.items():
        parts.append("=" * 72 + "\n" + ", ".join(names) + "\n\n" + text)
    return "\n\n".join(parts) + "\n"


def for_archive(text):
    """A Markdown text whose links fit the archive: pages of the book as rendered; and no links to
    files that are only in the source."""

    def link(match):
        words, to = match.groups()
        page = re.fullmatch(r"book/src/(.*)\.md(#.*)?", to)
        if page:
            name = "toc" if page[1] == "SUMMARY" else page[1]
            return f"[{words}](book/{name}.html{page[2] or ''})"
        if re.match(r"[a-z]+:", to) or to.startswith("#") or to in TEXTS:
            return match[0]
        return words

    return re.sub(r"\[([^\]]*)\]\(([^)\s]+)\)", link, text)


def readme_for_archive(text):
    """README without what only somebody with the source can do."""
    introduction, *sections = re.split(r"^(?=## )", text, flags=re.MULTILINE)
    kept = [each for each in sections if each.splitlines()[0].removeprefix("## ") not in SOURCE_SECTIONS]
    if len(sections) - len(kept) != len(SOURCE_SECTIONS):
        sys.exit("README lacks a section that archives leave out: change SOURCE_SECTIONS")
    paragraphs = "".join([introduction, FIRST_STEPS, *kept]).split("\n\n")
    return "\n\n".join(each for each in paragraphs if "`cargo " not in each)


def contents(system, program, book):
    """The files of an archive: path, bytes, and whether it is a program."""
    files = [(program.name, program.read_bytes(), True)]
    for name in TEXTS:
        text = for_archive((ROOT / name).read_text(encoding="utf-8"))
        if name == "README.md":
            text = readme_for_archive(text)
        files.append((name, text.encode(), False))
    files.append(("THIRD-PARTY.txt", licences(system.target).encode(), False))
    for path in sorted(book.rglob("*")):
        if path.is_file():
            files.append((f"book/{path.relative_to(book).as_posix()}", path.read_bytes(), False))
    # So that the book's commands run in the archive's folder too.
    for path in sorted((ROOT / "book" / "trees").glob("*.tree")):
        files.append((f"book/trees/{path.name}", path.read_bytes(), False))
    return files


def write_tar(path, folder, files, seconds):
    """A tar file that depends on its contents alone."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, data, program in files:
            entry = tarfile.TarInfo(f"{folder}/{name}")
            entry.size, entry.mtime, entry.mode = len(data), seconds, 0o755 if program else 0o644
            archive.addfile(entry, io.BytesIO(data))
    path.write_bytes(gzip.compress(raw.getvalue(), 9, mtime=0))


def write_zip(path, folder, files, date):
    """The same as a zip file."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data, program in files:
            entry = zipfile.ZipInfo(f"{folder}/{name}", date)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if program else 0o100644) << 16
            archive.writestr(entry, data)


def checksums():
    """SHA256SUMS of all archives, as `sha256sum --check` reads it."""
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
        for path in sorted(OUT.glob("pleach-*"))
    ]
    (OUT / "SHA256SUMS").write_bytes("".join(lines).encode())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--profile", default="release", help="cargo's profile, for trials of this script")
    parser.add_argument("--no-build", action="store_true", help="take the programs as built before")
    parser.add_argument("--dirty", action="store_true", help="with changes that are not committed, for trials")
    parser.add_argument("--list", action="store_true", help="show the systems and what is missing for them")
    parser.add_argument("systems", nargs="*", metavar="SYSTEM", help=", ".join(SYSTEMS))
    arguments = parser.parse_args()
    unknown = [name for name in arguments.systems if name not in SYSTEMS]
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; there are {', '.join(SYSTEMS)}")
    chosen = {name: SYSTEMS[name] for name in arguments.systems or DEFAULT}
    if arguments.list:
        for name, system in SYSTEMS.items():
            print(f"{name} ({system.target}): {'; '.join(missing({name: system})) or 'ready'}")
        return
    if not arguments.dirty and output("git", "status", "--porcelain", "--untracked-files=no").strip():
        sys.exit("Changes that are not committed would go into the programs and not into the source: --dirty allows it")
    lacks = missing(chosen)
    if lacks:
        sys.exit("\n".join(lacks))

    known = metadata(host())
    version = next(each["version"] for each in known["packages"] if each["id"] == known["resolve"]["root"])
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH") or output("git", "log", "-1", "--format=%ct"))
    date = time.gmtime(seconds)[:6]
    OUT.mkdir(parents=True, exist_ok=True)
    for old in OUT.glob(f"pleach-{version}-*"):
        old.unlink()
    with tempfile.TemporaryDirectory() as place:
        book = pathlib.Path(place) / "book"
        subprocess.run(["mdbook", "build", ROOT / "book", "--dest-dir", book], check=True)
        for name, system in chosen.items():
            if not arguments.no_build:
                build(system, arguments.profile)
            program = program_file(system, arguments.profile)
            folder = f"pleach-{version}-{name}"
            files = contents(system, program, book)
            if system.windows:
                path = OUT / f"{folder}.zip"
                write_zip(path, folder, files, date)
            else:
                path = OUT / f"{folder}.tar.gz"
                write_tar(path, folder, files, seconds)
            print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1e6:.1f} MB", flush=True)
    source = OUT / f"pleach-{version}-source.tar.gz"
    tree = subprocess.run(
        ["git", "archive", "--format=tar", f"--prefix=pleach-{version}/", "HEAD"],
        cwd=ROOT, check=True, capture_output=True,
    ).stdout
    source.write_bytes(gzip.compress(tree, 9, mtime=0))
    print(f"{source.relative_to(ROOT)}: {source.stat().st_size / 1e6:.1f} MB")
    checksums()


if __name__ == "__main__":
    main()
