//! An engine that the system suspends (SIGSTOP) in a timed search: the clock goes on meanwhile, and
//! no more is lost than that time.
#![cfg(unix)]

mod common;

use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::{Client, best_move};

const SUSPENDED: Duration = Duration::from_secs(1);
const MOVE_TIME: Duration = Duration::from_millis(1500);
/// An engine that did not count the time in which it was suspended is late every time; a busy
/// machine makes one late now and then.
const TRIES: u32 = 5;

fn signal(id: u32, name: &str) {
    let sent = Command::new("kill")
        .args([name, &id.to_string()])
        .status()
        .expect("kill exists");
    assert!(sent.success());
}

/// How long a search takes that is suspended once.
fn suspended_search(client: &mut Client) -> Duration {
    let begun = Instant::now();
    client.send(&format!("go movetime {}", MOVE_TIME.as_millis()));
    client.expect("info depth 1 ");
    signal(client.id(), "-STOP");
    sleep(SUSPENDED);
    signal(client.id(), "-CONT");
    assert_ne!(best_move(&client.expect("bestmove")), "(none)");
    begun.elapsed()
}

#[test]
fn a_suspended_search_loses_only_that_time() {
    let mut client = Client::greeted();
    client.sync();
    let times: Vec<Duration> = (0..TRIES)
        .map(|_| suspended_search(&mut client))
        .take_while(|&time| time >= MOVE_TIME + SUSPENDED)
        .collect();
    assert!(times.len() < TRIES as usize, "late each time: {times:?}");
}
