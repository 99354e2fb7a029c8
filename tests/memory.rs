//! Resident memory: the hash table and a fixed part, and no growth.
#![cfg(target_os = "linux")]

mod common;

use std::fs;

use common::{Client, engine};

const KIB_PER_MIB: u64 = 1024;

/// Resident memory of a running engine in KiB.
fn resident(client: &Client) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", client.id())).expect("a process");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|text| text.parse().ok()).expect("a number")
}

/// MiB in use beside the hash table, as the bench says.
fn fixed_part(hash_mib: u64) -> u64 {
    let hash = hash_mib.to_string();
    let bench = engine()
        .args(["bench", "5", "--memory", "--hash", &hash])
        .output()
        .expect("the engine runs");
    let text = String::from_utf8(bench.stdout).expect("text");
    let line = text
        .lines()
        .find(|line| line.starts_with("Resident memory"))
        .expect("a line about memory");
    assert!(line.contains(&format!(" {hash} of them hash")), "{line}");
    let words: Vec<&str> = line.split_whitespace().collect();
    words[words.len() - 3].parse().expect("MiB")
}

#[test]
fn memory_is_hash_and_a_fixed_part() {
    /// A table that is not all in use yet looks smaller; the rest never differs by as much.
    const TOLERANCE: u64 = 8;
    let (small, large) = (fixed_part(4), fixed_part(60));
    assert!(
        small.abs_diff(large) <= TOLERANCE,
        "{small} and {large} MiB"
    );
}

/// `PLEACH_SEARCHES=100000` sets how many.
#[test]
fn a_thousand_searches_take_no_memory() {
    const SEARCHES: usize = 1000;
    const WARM_UP: usize = 200;
    /// Fragments of the allocator. A leak of a move list in each search is more.
    const MOST_GROWTH: u64 = KIB_PER_MIB;
    let searches = std::env::var("PLEACH_SEARCHES").map_or(SEARCHES, |text| {
        text.parse().expect("PLEACH_SEARCHES is a number")
    });
    let mut client = Client::greeted();
    client.send("setoption name Hash value 1\nsetoption name Threads value 2");
    let search = |client: &mut Client, round: usize| {
        if round.is_multiple_of(50) {
            client.send("ucinewgame");
        }
        let moves = ["e2e4", "d2d4", "g1f3", "c2c4 e7e5"][round % 4];
        client.send(&format!("position startpos moves {moves}"));
        client.go("nodes 300");
        client.heard.clear();
    };
    (0..WARM_UP).for_each(|round| search(&mut client, round));
    let before = resident(&client);
    (0..searches).for_each(|round| search(&mut client, round));
    let after = resident(&client);
    assert!(
        after <= before + MOST_GROWTH,
        "{before} KiB before, {after} KiB after {searches} searches"
    );
}
