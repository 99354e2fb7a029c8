//! What a run of annotation is to do.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use super::analysis::Method;

/// Part `index` of `count`, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    pub index: u64,
    pub count: u64,
}

impl Shard {
    /// The numbers of its games of `total`: consecutive ones, so that the outputs of all shards,
    /// one after another, are the output of a single run.
    #[must_use]
    pub fn games(self, total: u64) -> RangeInclusive<u64> {
        let end = |index: u64| {
            let product = u128::from(total) * u128::from(index) / u128::from(self.count);
            u64::try_from(product).unwrap_or(u64::MAX)
        };
        end(self.index - 1) + 1..=end(self.index)
    }
}

/// What to do.
#[derive(Clone, Debug)]
pub struct AnnotateJob {
    /// `None` for standard input.
    pub input: Option<PathBuf>,
    pub output: PathBuf,
    /// Where the pages of the report go.
    pub report: Option<PathBuf>,
    pub shard: Option<Shard>,
    pub workers: usize,
    /// Start over, even if the output exists.
    pub overwrite: bool,
    pub method: Method,
    /// Plies of a better line.
    pub line_plies: usize,
    /// The settings that decide the result, in words: shown on the pages, and a run is continued
    /// only if they are the same.
    pub settings: String,
}

impl AnnotateJob {
    /// Whether the input gives the same games each time that it is opened, as a file does; a pipe
    /// does not.
    #[must_use]
    pub fn is_read_again(&self) -> bool {
        self.input.as_ref().is_some_and(|input| input.is_file())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_part_the_games() {
        for total in [0, 1, 7, 100] {
            for count in [1, 2, 3, 8] {
                let mut next = 1;
                for index in 1..=count {
                    let games = Shard { index, count }.games(total);
                    assert_eq!(*games.start(), next);
                    next = games.end() + 1;
                }
                assert_eq!(next, total + 1);
            }
        }
    }
}
