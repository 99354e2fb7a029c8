//! What a client, a shell or a system may do to an engine: pipes that nobody reads, pipes in the
//! place of files, too little memory, requests without sense, and positions that take for ever.

mod common;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use common::{Client, best_move, wait};

/// Longest wait for what should take a fraction of a second. Starved machines need minutes.
const PATIENCE: Duration = Duration::from_secs(120);

/// One ply of this takes minutes: captures lead to captures.
const EXPLOSIVE: &str =
    "kr1nB1nQ/BbbnR1Q1/BQNR1bnR/r5qb/bQNQqQq1/1r1QNQbb/BNBrnrNb/1qRNKqRn w - - 0 1";

fn pleach() -> Command {
    Command::new(env!("CARGO_BIN_EXE_pleach"))
}

#[test]
fn stop_and_quit_are_obeyed_in_the_first_iteration() {
    let mut client = Client::greeted();
    client.send(&format!("position fen {EXPLOSIVE}"));
    client.sync();
    client.send("go infinite");
    sleep(Duration::from_millis(50));
    client.send("stop");
    assert_ne!(best_move(&client.expect("bestmove")), "(none)");
    assert_ne!(best_move(&client.go("movetime 100")), "(none)");
    client.send("go infinite\nquit");
    assert!(client.wait().success());
}

#[test]
fn perft_and_bench_can_be_stopped() {
    let mut client = Client::greeted();
    for endless in ["go perft 12", "perft 12", "bench 60"] {
        client.send(endless);
        sleep(Duration::from_millis(20));
        client.send("stop");
        client.expect("info string");
        client.sync();
    }
    client.send("bench 60\nd\nquit");
    assert!(client.wait().success());
}

#[test]
fn limits_without_sense_end_in_one_move() {
    let mut client = Client::greeted();
    for limits in ["depth x", "wtime", "movetime nodes", "bananas"] {
        let lines = client.go(limits);
        assert!(lines[0].starts_with("info string go: "), "{lines:#?}");
        assert_ne!(best_move(&lines), "(none)");
    }
    client.send("quit");
    client.wait();
    let moves = client
        .heard
        .iter()
        .filter(|line| line.starts_with("bestmove"));
    assert_eq!(moves.count(), 4);
    let mut child = pleach()
        .args(["go", "depth", "x"])
        .stdout(Stdio::null())
        .spawn()
        .expect("the engine starts");
    assert_eq!(wait(&mut child).code(), Some(1));
}

#[test]
fn quit_and_the_end_of_input_are_obeyed_while_nobody_reads() {
    for (quit, end) in [(true, false), (false, true)] {
        let mut child = pleach()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the engine starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        // More than any pipe holds.
        let lines = "uci\nd\n".repeat(200) + "go infinite\n";
        stdin.write_all(lines.as_bytes()).expect("a reader");
        if quit {
            stdin.write_all(b"quit\n").expect("a reader");
        }
        if end {
            drop(stdin);
        }
        assert!(wait(&mut child).code().is_some_and(|code| code <= 1));
    }
}

#[test]
fn a_reader_that_leaves_ends_bench_and_analyse() {
    for arguments in [["bench", "60"].as_slice(), &["analyse", "--depth", "200"]] {
        let mut child = pleach()
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the engine starts");
        sleep(Duration::from_millis(200));
        drop(child.stdout.take());
        assert!(wait(&mut child).success(), "{arguments:?}");
    }
}

/// A socket whose both ends do not block serves as standard input and output.
#[cfg(unix)]
#[test]
fn descriptors_that_do_not_block_are_waited_for() {
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;

    let (mut ours, theirs) = UnixStream::pair().expect("a socket");
    theirs.set_nonblocking(true).expect("non-blocking");
    ours.set_read_timeout(Some(PATIENCE)).expect("a time limit");
    let stdin = OwnedFd::from(theirs.try_clone().expect("a copy"));
    let mut child = pleach()
        .stdin(Stdio::from(stdin))
        .stdout(Stdio::from(OwnedFd::from(theirs)))
        .spawn()
        .expect("the engine starts");
    sleep(Duration::from_millis(100));
    for part in ["isr", "eady\n", "go depth 3\n"] {
        ours.write_all(part.as_bytes()).expect("a reader");
        sleep(Duration::from_millis(30));
    }
    let mut reader = BufReader::new(ours.try_clone().expect("a copy"));
    let mut text = String::new();
    while !text.contains("bestmove ") {
        assert_ne!(reader.read_line(&mut text).expect("text"), 0, "{text}");
    }
    // More than the socket holds, read only afterwards.
    let mut copy = ours.try_clone().expect("a copy");
    let writer = std::thread::spawn(move || {
        let lines = "uci\n".repeat(400) + "isready\nquit\n";
        copy.write_all(lines.as_bytes()).expect("a reader");
    });
    sleep(Duration::from_millis(200));
    reader.read_to_string(&mut text).expect("text");
    assert!(writer.join().is_ok() && wait(&mut child).success());
    assert!(
        text.starts_with("readyok\n") && text.ends_with("readyok\n"),
        "{text:?}"
    );
    assert_eq!(text.matches("uciok\n").count(), 400);
    assert_eq!(text.matches("bestmove ").count(), 1);
}

#[cfg(unix)]
#[test]
fn pipes_are_not_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let pipe = folder.path().join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.is_ok_and(|status| status.success()));
    let mut client = Client::greeted();
    for option in ["EvalFile", "Debug Log File"] {
        client.send(&format!("setoption name {option} value {}", pipe.display()));
        let lines = client.sync();
        assert!(lines[0].contains("not a regular file"), "{lines:#?}");
        assert_eq!(lines[0].matches(option).count(), 1, "{lines:#?}");
    }
    assert_ne!(best_move(&client.go("depth 3")), "(none)");
}

/// Under every limit of memory the engine plays, with as much as it can get.
#[cfg(target_os = "linux")]
#[test]
fn too_little_memory_keeps_the_old_numbers() {
    const KIB_PER_MIB: usize = 1024;
    for mib in (400..=1600).step_by(150) {
        let limit = format!("ulimit -v {}; exec \"$0\"", mib * KIB_PER_MIB);
        let mut child = Command::new("sh")
            .args(["-c", &limit, env!("CARGO_BIN_EXE_pleach")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the engine starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin
            .write_all(
                b"uci\nisready\nsetoption name Threads value 200\nisready\nucinewgame\n\
                  setoption name Hash value 3000\nsetoption name Clear Hash\nisready\n\
                  position startpos\ngo depth 5\n",
            )
            .expect("a reader");
        let mut reader = child.stdout.take().expect("a pipe");
        let mut text = String::new();
        let mut buffer = [0; 4096];
        while !text.contains("bestmove") {
            let read = reader.read(&mut buffer).expect("output");
            assert_ne!(read, 0, "{mib} MiB: {text}");
            text.push_str(&String::from_utf8_lossy(&buffer[..read]));
        }
        stdin.write_all(b"quit\n").expect("a reader");
        assert!(wait(&mut child).success(), "{mib} MiB: {text}");
        // A panic ends a released program, which does not unwind.
        let mut errors = String::new();
        let mut stderr = child.stderr.take().expect("a pipe");
        stderr.read_to_string(&mut errors).expect("text");
        assert!(!errors.contains("panicked"), "{mib} MiB: {errors}");
        assert_eq!(text.matches("readyok").count(), 3, "{mib} MiB: {text}");
        assert!(text.contains("info string option Threads"), "{mib} MiB");
        assert!(text.contains("info string option Hash"), "{mib} MiB");
    }
}
