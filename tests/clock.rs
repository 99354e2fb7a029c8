//! Searches by the clock, timed by the client: from the command it sends to the move it reads.

mod common;

use std::thread::sleep;
use std::time::{Duration, Instant};

use common::{Client, best_move};

/// An engine that oversteps its clock does so every time; a busy machine makes one late now and
/// then.
const TRIES: u32 = 5;

/// How long the move takes after a command.
fn answer_time(client: &mut Client, command: &str) -> Duration {
    let begun = Instant::now();
    client.send(command);
    assert_ne!(best_move(&client.expect("bestmove")), "(none)");
    begun.elapsed()
}

/// Some of the tries take less than `left`.
fn keeps(left: Duration, mut once: impl FnMut() -> Duration) {
    let late: Vec<Duration> = (0..TRIES)
        .map(|_| once())
        .take_while(|&time| time >= left)
        .collect();
    assert!(late.len() < TRIES as usize, "{left:?} left, {late:?}");
}

fn client(threads: usize) -> Client {
    let mut client = Client::greeted();
    client.send(&format!("setoption name Threads value {threads}"));
    client.sync();
    client
}

#[test]
fn no_clock_is_overstepped() {
    for threads in [1, 4] {
        let mut client = client(threads);
        for (left, more) in [(1000, ""), (200, " winc 2 binc 2"), (150, " movestogo 1")] {
            let go = format!("go wtime {left} btime {left}{more}");
            let left = Duration::from_millis(left);
            keeps(left, || answer_time(&mut client, &go));
        }
    }
}

#[test]
fn after_ponderhit_the_clock_is_kept() {
    const LEFT: Duration = Duration::from_millis(300);
    for threads in [1, 4] {
        let mut client = client(threads);
        keeps(LEFT, || {
            client.send("position startpos moves e2e4 e7e5");
            client.send("go ponder wtime 300 btime 300");
            sleep(2 * LEFT);
            answer_time(&mut client, "ponderhit")
        });
    }
}
