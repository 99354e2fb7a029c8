//! Aspiration windows: the root is searched in a narrow window around the expected score, which
//! is widened each time that the score falls outside. A narrow window cuts more of the tree.

use super::window::Window;
use crate::params as p;
use crate::types::{Depth, Score};

/// From this iteration on windows are narrow.
pub(super) const ASPIRATION_DEPTH: Depth = Depth(4);
/// A window wider than this is opened altogether, in centipawns.
const WIDEST: i32 = 1000;
/// `aspiration_growth` counts in 1/256.
const GROWTH_UNIT: i32 = 256;
/// A search that fails high is repeated less deep, by at most this many plies.
const MOST_SHALLOWER: i32 = 3;

/// The windows of one iteration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Aspiration {
    window: Window,
    /// What the next window extends beyond a score that fell outside, in centipawns.
    width: i32,
    /// By how many plies the next search is less deep than the iteration.
    shallower: i32,
}

impl Aspiration {
    /// One search with an open window.
    pub fn open() -> Aspiration {
        Aspiration {
            window: Window::OPEN,
            width: WIDEST,
            shallower: 0,
        }
    }

    /// Starts around a root move's mean score; scores far from zero (by the mean of their
    /// squares) vary more and get a wider window.
    pub fn around(mean: Score, mean_square: i64) -> Aspiration {
        let width =
            p::aspiration_width() + (mean_square / i64::from(p::aspiration_variance())) as i32;
        Aspiration {
            window: Window::new(lowered(mean, width), raised(mean, width)),
            width,
            shallower: 0,
        }
    }

    /// The window to search with.
    pub fn window(&self) -> Window {
        self.window
    }

    /// The depth to search to, in an iteration of depth `root`.
    pub fn depth(&self, root: Depth) -> Depth {
        root - self.shallower
    }

    /// Takes the score of a search. Returns true if it lies inside the window, else widens it.
    pub fn accept(&mut self, score: Score, root: Depth) -> bool {
        let Window { alpha, beta } = self.window;
        if score <= alpha {
            // Fail low: the old beta is too high as well.
            self.window = Window::new(
                lowered(score, self.width),
                Score::from_raw((alpha.raw() + beta.raw()) / 2),
            );
            self.shallower = 0;
        } else if score >= beta {
            self.window.beta = raised(score, self.width);
            self.shallower = (self.shallower + 1)
                .min(MOST_SHALLOWER)
                .min(root.plies() - 1);
        } else {
            return true;
        }
        if score.is_decisive() {
            self.window = Window::OPEN;
            self.shallower = 0;
        }
        self.width += self.width * p::aspiration_growth() / GROWTH_UNIT;
        false
    }
}

/// A bound below a score; minus infinite when the window has grown too wide to help.
fn lowered(score: Score, width: i32) -> Score {
    if width > WIDEST {
        -Score::INFINITE
    } else {
        (score - width).max(-Score::INFINITE)
    }
}

/// A bound above a score; infinite when the window has grown too wide to help.
fn raised(score: Score, width: i32) -> Score {
    if width > WIDEST {
        Score::INFINITE
    } else {
        (score + width).min(Score::INFINITE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Ply;

    const ROOT: Depth = Depth(10);

    #[test]
    fn the_first_window_is_centred_on_the_mean() {
        let aspiration = Aspiration::around(Score::cp(30), 0);
        let width = p::aspiration_width();
        assert_eq!(
            aspiration.window(),
            Window::new(Score::cp(30 - width), Score::cp(30 + width))
        );
        let far = Aspiration::around(Score::cp(400), 160_000).window();
        assert!(far.beta - far.alpha > 2 * width);
    }

    #[test]
    fn a_score_inside_ends_the_iteration() {
        let mut aspiration = Aspiration::around(Score::cp(30), 0);
        assert!(aspiration.accept(Score::cp(31), ROOT));
        assert_eq!(aspiration.depth(ROOT), ROOT);
    }

    #[test]
    fn a_fail_low_lowers_both_bounds_and_keeps_the_depth() {
        let mut aspiration = Aspiration::around(Score::cp(30), 0);
        let before = aspiration.window();
        assert!(
            !aspiration.accept(before.alpha, ROOT),
            "alpha itself fails low"
        );
        let after = aspiration.window();
        assert!(after.alpha < before.alpha && after.beta < before.beta);
        assert!(after.beta > before.alpha, "the score at alpha stays inside");
        assert_eq!(aspiration.depth(ROOT), ROOT);
    }

    #[test]
    fn fail_highs_raise_beta_and_search_less_deep_up_to_a_limit() {
        let mut aspiration = Aspiration::around(Score::cp(30), 0);
        let alpha = aspiration.window().alpha;
        for failures in 1..=5 {
            let beta = aspiration.window().beta;
            assert!(!aspiration.accept(beta, ROOT), "beta itself fails high");
            assert!(aspiration.window().beta > beta);
            assert_eq!(aspiration.window().alpha, alpha);
            assert_eq!(aspiration.depth(ROOT), ROOT - failures.min(MOST_SHALLOWER));
        }
        let mut shallow = Aspiration::around(Score::cp(30), 0);
        let beta = shallow.window().beta;
        assert!(!shallow.accept(beta, Depth(2)) && !shallow.accept(Score::cp(500), Depth(2)));
        assert_eq!(shallow.depth(Depth(2)), Depth::ONE);
    }

    #[test]
    fn windows_grow_until_they_are_open() {
        let mut aspiration = Aspiration::around(Score::DRAW, 0);
        let mut widths = Vec::new();
        while aspiration.window().alpha > -Score::INFINITE {
            let Window { alpha, beta } = aspiration.window();
            widths.push(alpha - beta);
            assert!(!aspiration.accept(alpha, ROOT));
            assert!(widths.len() < 100, "the window stays narrow");
        }
        assert!(widths.len() > 3);
        let mut mate = Aspiration::around(Score::DRAW, 0);
        assert!(!mate.accept(Score::mate_in(Ply(9)), ROOT));
        assert_eq!((mate.window(), mate.depth(ROOT)), (Window::OPEN, ROOT));
    }
}
