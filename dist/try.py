#!/usr/bin/env python3
"""Tries archives before they are called good: unpacks each and runs the program that is in it.

    dist/try.py [ARCHIVE...]        (target/dist/pleach-*, if none is named)

Checked are the files and the links of README, the bench signature, perft, that all instruction
sets give the same bench, UCI sessions, and games. Programs of other systems run in emulators:
qemu-aarch64 for aarch64 Linux, Wine for Windows. Where there is none, the archive is reported as
not tried, with the command that installs one, and the exit code is 2; it is 1 if a trial failed.

Needs python-chess (pip install chess).
"""

import argparse
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "target" / "dist"
# A whole command under emulation, with much else going on.
SECONDS = 1200
# Sequences of five moves from the start.
PERFT_5 = 4_865_609
INSTRUCTION_SETS = {
    "x86-64": ["scalar", "avx2", "avx512", "avx512vnni"],
    "aarch64": ["scalar", "neon"],
}
WINE_STUB = ROOT / "tests" / "wine" / "bcryptprimitives.c"
MINGW = "x86_64-w64-mingw32-gcc"
FILES = ["README.md", "LICENSE", "CHANGELOG.md", "THIRD-PARTY.txt", "book/index.html", "book/install.html"]


class NotTried(Exception):
    """There is nothing here to run the program with."""


class Failed(Exception):
    """The archive is no good."""


def check(holds, *what):
    if not holds:
        raise Failed(" ".join(str(each) for each in what))


def runner(archive, folder):
    """What runs the archive's program here: words before it, and more environment."""
    system, machine = platform.system(), platform.machine().lower().replace("amd64", "x86_64")
    windows = "windows" in archive.name
    wanted = "aarch64" if "aarch64" in archive.name else "x86_64"
    needs = "Windows" if windows else "Darwin" if "macos" in archive.name else "Linux"
    if system == needs and machine.replace("arm64", "aarch64") == wanted:
        return [], {}
    if system == "Linux" and needs == "Linux":
        emulator = f"qemu-{wanted}"
        if not shutil.which(emulator):
            raise NotTried(f"{emulator} is missing: apt-get install qemu-user")
        return [emulator], {}
    if system == "Linux" and windows and machine == "x86_64":
        wine = shutil.which("wine64") or shutil.which("wine")
        if not wine:
            raise NotTried("wine is missing: apt-get install wine64 wine")
        stub(folder)
        prefix = folder / ".wine"
        return [wine], {"WINEPREFIX": str(prefix), "WINEDEBUG": "-all", "WINEARCH": "win64"}
    raise NotTried(f"only a machine with {needs} on {wanted} can run this")


def stub(folder):
    """The library that Wine before version 9 lacks, beside the program."""
    if not shutil.which(MINGW):
        raise NotTried(f"{MINGW} is missing: apt-get install gcc-mingw-w64-x86-64")
    made = folder / "bcryptprimitives.dll"
    subprocess.run([MINGW, "-shared", "-o", made, WINE_STUB, "-ladvapi32"], check=True)


def unpack(archive, place):
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(place)
    else:
        with tarfile.open(archive) as packed:
            packed.extractall(place, filter="data")
    (folder,) = place.iterdir()
    return folder


def links(folder):
    """Every link of the texts leads to a file of the archive."""
    for page in folder.glob("*.md"):
        for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
            path = target.partition("#")[0]
            if path and not re.match(r"[a-z]+:", target):
                check((folder / path).exists(), page.name, "links to", target, "which is not there")


def readme(folder):
    """README asks for nothing that an archive does not have."""
    text = (folder / "README.md").read_text(encoding="utf-8")
    check("cargo " not in text, "README.md names cargo, which those who download do not need")
    check("./pleach analyse" in text, "README.md has no first command")


def expected_signature():
    """The bench signature that the newest commit with one names."""
    log = subprocess.run(
        ["git", "log", "--format=%B"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    found = re.search(r"^Bench: (\d+)", log, re.MULTILINE)
    check(found, "no commit of this clone names a bench signature")
    return int(found[1])


class Program:
    """The unpacked program, as it is run here."""

    def __init__(self, words, environment):
        self.words = words
        self.environment = {**os.environ, **environment}

    def run(self, *arguments, stdin=None, **more):
        done = subprocess.run(
            [*self.words, *arguments], env={**self.environment, **more}, input=stdin,
            capture_output=True, text=True, timeout=SECONDS,
        )
        check(done.returncode == 0, arguments, "ended with", done.returncode, done.stdout, done.stderr)
        self.stderr = done.stderr
        return done.stdout


def version(program, archive):
    """The program's version, which is that of the archive."""
    said = program.run("--version").strip()
    check(f"-{said.split()[-1]}-" in archive.name, archive.name, "holds", said)
    return said


def bench(program, archive):
    """The signature, with every instruction set of the processor."""
    signature = expected_signature()
    kind = "aarch64" if "aarch64" in archive.name else "x86-64"
    tried = []
    for simd in INSTRUCTION_SETS[kind]:
        last = program.run("bench", PLEACH_SIMD=simd).strip().splitlines()[-1]
        check(int(last.split()[0]) == signature, simd, "searches", last, "and not", signature)
        # With one that the processor lacks the engine says so and takes its best.
        if "PLEACH_SIMD" not in program.stderr:
            tried.append(simd)
    return f"bench {signature} with {', '.join(tried)}"


def perft(program):
    check(str(PERFT_5) in program.run("perft", "5").replace(",", ""), "perft 5 is not", PERFT_5)
    return f"perft 5 = {PERFT_5}"


def session(program):
    """UCI as text: options, limits, Chess960, a position that is refused, and the end of input."""
    said = program.run(stdin="\n".join([
        "uci", "setoption name Hash value 32", "setoption name Threads value 2", "isready", "ucinewgame",
        "position startpos moves e2e4 e7e5", "go wtime 1000 btime 1000 winc 10 binc 10",
        "position fen 6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1", "go mate 1",
        "position fen no such position", "isready",
        "setoption name UCI_Chess960 value true",
        "position fen 1r2k1r1/8/8/8/8/8/8/1R2K1R1 w GBgb - 0 1", "go nodes 2000", "quit", "",
    ]))
    check("uciok" in said and said.count("readyok") == 2, said)
    check(said.count("bestmove") == 3 and "bestmove a1a8" in said and "score mate 1" in said, said)
    check("info string" in said.partition("readyok")[2], "the bad position is not reported:", said)
    return "UCI session"


def games(program):
    """Games through python-chess, which checks every move and line."""
    script = [sys.executable, ROOT / "tests" / "smoke_game.py", *program.words]
    done = subprocess.run(
        script, env=program.environment, capture_output=True, text=True, timeout=SECONDS
    )
    check(done.returncode == 0, done.stdout, done.stderr)
    return "games (" + "; ".join(done.stdout.strip().splitlines()) + ")"


def try_archive(archive):
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        folder = unpack(archive, pathlib.Path(place))
        check(folder.name == archive.name.removesuffix(".zip").removesuffix(".tar.gz"), folder.name)
        for name in FILES:
            check((folder / name).is_file(), name, "is not in the archive")
        links(folder)
        readme(folder)
        words, environment = runner(archive, folder)
        name = "pleach.exe" if "windows" in archive.name else "pleach"
        program = Program([*words, str(folder / name)], environment)
        for trial in [
            lambda: version(program, archive), lambda: bench(program, archive),
            lambda: perft(program), lambda: session(program), lambda: games(program),
        ]:
            print(f"  {trial()}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("archives", nargs="*", type=pathlib.Path)
    chosen = parser.parse_args().archives
    if not chosen:
        chosen = [each for each in sorted(OUT.glob("pleach-*")) if "-source" not in each.name]
    if not chosen:
        sys.exit("No archives: dist/archive.py makes them")
    not_tried, failed = False, False
    for archive in chosen:
        print(archive.name, flush=True)
        try:
            try_archive(archive)
            print("  good", flush=True)
        except NotTried as why:
            not_tried = True
            print(f"  NOT TRIED: {why}", flush=True)
        except (Failed, subprocess.TimeoutExpired) as why:
            failed = True
            print(f"  FAILED: {why}", flush=True)
    sys.exit(1 if failed else 2 if not_tried else 0)


if __name__ == "__main__":
    main()
