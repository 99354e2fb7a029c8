//! The model's curves from recorded games, by maximum likelihood.

use std::collections::BTreeMap;

use thiserror::Error;

use super::{ChancesModel, LEAST_MATERIAL, MOST_MATERIAL, ROLE_VALUES, TERMS, argument, logistic};
use crate::record::{GameRecord, Mailbox, NO_SCORE};
use crate::types::Color;

/// Scores beyond this, in centipawns, are left out: games are adjudicated there.
const MOST_SCORE: i32 = 400;
/// Scores are counted in steps of this many centipawns.
const STEP: i32 = 5;
const STEPS: usize = (2 * MOST_SCORE / STEP + 1) as usize;
/// Plies after which a game has become long: results then depend on the 50-move rule.
const LAST_PLY: usize = 400;
const MATERIALS: usize = (MOST_MATERIAL - LEAST_MATERIAL + 1) as usize;
/// All coefficients: of both curves.
const PARAMETERS: usize = 2 * TERMS;
/// Iterations after which the fit is given up; a dozen are enough.
const ITERATIONS: usize = 60;
/// A step that changes no coefficient by more, in centipawns, is the last one.
const SETTLED: f64 = 1e-3;

/// Why there is no fit.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum FitError {
    #[error("too few positions: {0}")]
    TooFew(u64),
    #[error("the positions do not determine the curves")]
    Singular,
    #[error("the curves have not settled: the positions fit any steeper ones better")]
    NotConverged,
}

/// How often each result followed each score and material: wins, draws and losses of the side
/// to move.
#[derive(Clone)]
pub struct Tally {
    counts: Vec<[u64; 3]>,
}

impl Default for Tally {
    fn default() -> Tally {
        Tally {
            counts: vec![[0; 3]; MATERIALS * STEPS],
        }
    }
}

/// The result of a fit.
#[derive(Clone, Copy, Debug)]
pub struct Fit {
    pub model: ChancesModel,
    /// Positions that it is based on.
    pub positions: u64,
}

impl Tally {
    /// Counts every scored position of a game. Positions whose game cannot be replayed are left
    /// out from there on.
    pub fn add(&mut self, game: &GameRecord) {
        let Ok(mut board) = Mailbox::unpack(&game.start) else {
            return;
        };
        for ply in game.plies.iter().take(LAST_PLY) {
            let turn = board.turn;
            let score = match turn {
                Color::White => i32::from(ply.score),
                Color::Black => -i32::from(ply.score),
            };
            if ply.score != NO_SCORE && score.abs() <= MOST_SCORE {
                let lost_half_points = 2 - game.result.half_points(turn);
                let row = row(material(&board), score);
                self.counts[row][usize::from(lost_half_points)] += 1;
            }
            if board.play(ply.played).is_err() {
                return;
            }
        }
    }

    /// Positions counted.
    #[must_use]
    pub fn positions(&self) -> u64 {
        self.counts.iter().flatten().sum()
    }

    /// Every combination that occurred: material, score in centipawns, wins, draws and losses.
    fn rows(&self) -> impl Iterator<Item = (u32, f64, [f64; 3])> + '_ {
        self.counts
            .iter()
            .enumerate()
            .filter(|(_, counts)| counts.iter().any(|&count| count > 0))
            .map(|(index, counts)| {
                let material = LEAST_MATERIAL + (index / STEPS) as u32;
                let score = (index % STEPS) as i32 * STEP - MOST_SCORE;
                (material, f64::from(score), counts.map(|count| count as f64))
            })
    }

    /// Fits the model by Fisher scoring, beginning with constant curves.
    ///
    /// # Errors
    /// If there are too few positions, or all alike, or if the score decides every result, so that
    /// no curves fit best.
    pub fn fit(&self) -> Result<Fit, FitError> {
        /// Fewer positions cannot determine eight coefficients.
        const FEWEST: u64 = 1000;
        let positions = self.positions();
        if positions < FEWEST {
            return Err(FitError::TooFew(positions));
        }
        let mut model = ChancesModel {
            even: [150.0, 0.0, 0.0, 0.0],
            spread: [60.0, 0.0, 0.0, 0.0],
        };
        for _ in 0..ITERATIONS {
            let step = self.scoring_step(&model).ok_or(FitError::Singular)?;
            let settled = step.iter().all(|change| change.abs() < SETTLED);
            for (index, change) in step.into_iter().enumerate() {
                let (curve, term) = (index / TERMS, index % TERMS);
                let terms = if curve == 0 {
                    &mut model.even
                } else {
                    &mut model.spread
                };
                terms[term] += change;
            }
            if settled {
                return Ok(Fit { model, positions });
            }
        }
        Err(FitError::NotConverged)
    }

    /// The change of all coefficients that one step of Fisher scoring asks for.
    fn scoring_step(&self, model: &ChancesModel) -> Option<[f64; PARAMETERS]> {
        let mut information = [[0.0; PARAMETERS]; PARAMETERS];
        let mut gradient = [0.0; PARAMETERS];
        for (material, score, counts) in self.rows() {
            let (even, spread) = model.curves(material);
            let chances = Chance::all(score, even, spread);
            let total: f64 = counts.iter().sum();
            let t = argument(material);
            let powers = [1.0, t, t * t, t * t * t];
            for (chance, count) in chances.iter().zip(counts) {
                // Derivatives of the chance with respect to every coefficient.
                let slope: [f64; PARAMETERS] = std::array::from_fn(|index| {
                    let by = if index < TERMS {
                        chance.by_even
                    } else {
                        chance.by_spread
                    };
                    by * powers[index % TERMS]
                });
                for i in 0..PARAMETERS {
                    gradient[i] += count / chance.value * slope[i];
                    for j in 0..PARAMETERS {
                        information[i][j] += total / chance.value * slope[i] * slope[j];
                    }
                }
            }
        }
        solve(information, gradient)
    }

    /// The root mean square difference between the model's expected result and the mean result
    /// of the positions, over groups of similar score and material, weighted by positions: as a
    /// fraction of a point.
    #[must_use]
    pub fn error(&self, model: &ChancesModel) -> f64 {
        let points = |results: [f64; 3]| results[0] + results[1] / 2.0;
        let squares = |group: &Group| (points(group.expected) - points(group.real)).powi(2);
        self.mean_square(model, squares).sqrt()
    }

    /// The same difference between the chances of a win, a draw and a loss and their shares, over
    /// all three.
    #[must_use]
    pub fn share_error(&self, model: &ChancesModel) -> f64 {
        let squares = |group: &Group| {
            let pairs = group.expected.iter().zip(group.real);
            pairs
                .map(|(expected, real)| (expected - real).powi(2))
                .sum::<f64>()
                / group.real.len() as f64
        };
        self.mean_square(model, squares).sqrt()
    }

    /// The mean over positions of a group's squared difference per position.
    fn mean_square(&self, model: &ChancesModel, squares: impl Fn(&Group) -> f64) -> f64 {
        let groups = self.groups(model);
        let total: f64 = groups.iter().map(Group::total).sum();
        let sum: f64 = groups
            .iter()
            .map(|group| squares(group) / group.total())
            .sum();
        sum / total.max(1.0)
    }

    /// Positions of similar score and material together.
    fn groups(&self, model: &ChancesModel) -> Vec<Group> {
        /// Width of a group in material and in centipawns.
        const MATERIAL_WIDTH: u32 = 16;
        const SCORE_WIDTH: f64 = 50.0;
        let mut groups = BTreeMap::new();
        for (material, score, counts) in self.rows() {
            let (win, loss) = model.win_and_loss(score, material);
            let total: f64 = counts.iter().sum();
            let step = (score / SCORE_WIDTH).floor() as i32;
            let group: &mut Group = groups.entry((material / MATERIAL_WIDTH, step)).or_default();
            for (index, chance) in [win, 1.0 - win - loss, loss].into_iter().enumerate() {
                group.expected[index] += chance * total;
                group.real[index] += counts[index];
            }
        }
        groups.into_values().collect()
    }
}

/// Wins, draws and losses of a group of positions: as the model expects them and as they were.
#[derive(Clone, Copy, Default)]
struct Group {
    expected: [f64; 3],
    real: [f64; 3],
}

impl Group {
    fn total(&self) -> f64 {
        self.real.iter().sum()
    }
}

/// A result's chance and its derivatives with respect to the two curves.
struct Chance {
    value: f64,
    by_even: f64,
    by_spread: f64,
}

impl Chance {
    /// Of a win, a draw and a loss.
    fn all(score: f64, even: f64, spread: f64) -> [Chance; 3] {
        /// Keeps the logarithm finite where a chance is nearly zero.
        const LEAST: f64 = 1e-6;
        let of = |x: f64| {
            let argument = (x - even) / spread;
            let value = logistic(argument);
            let slope = value * (1.0 - value);
            Chance {
                value: value.max(LEAST),
                by_even: -slope / spread,
                by_spread: -slope * argument / spread,
            }
        };
        let (win, loss) = (of(score), of(-score));
        let draw = Chance {
            value: (1.0 - win.value - loss.value).max(LEAST),
            by_even: -win.by_even - loss.by_even,
            by_spread: -win.by_spread - loss.by_spread,
        };
        [win, draw, loss]
    }
}

fn row(material: u32, score: i32) -> usize {
    let material = material.clamp(LEAST_MATERIAL, MOST_MATERIAL) - LEAST_MATERIAL;
    let step = (score + MOST_SCORE + STEP / 2) / STEP;
    material as usize * STEPS + (step as usize).min(STEPS - 1)
}

fn material(board: &Mailbox) -> u32 {
    let mut rest = board.occupied;
    let mut sum = 0;
    while rest != 0 {
        let code = board.squares[rest.trailing_zeros() as usize];
        rest &= rest - 1;
        // A code that is no role, in a damaged record, counts as a king: nothing.
        sum += ROLE_VALUES[usize::from(code % crate::record::BLACK).min(ROLE_VALUES.len() - 1)];
    }
    sum
}

/// Solves a linear system by elimination with pivots; `None` if it is singular.
fn solve(
    mut matrix: [[f64; PARAMETERS]; PARAMETERS],
    mut right: [f64; PARAMETERS],
) -> Option<[f64; PARAMETERS]> {
    const SINGULAR: f64 = 1e-9;
    for column in 0..PARAMETERS {
        let pivot = (column..PARAMETERS)
            .max_by(|&a, &b| matrix[a][column].abs().total_cmp(&matrix[b][column].abs()))?;
        let size = matrix[pivot][column].abs();
        if size.is_nan() || size < SINGULAR {
            return None;
        }
        matrix.swap(column, pivot);
        right.swap(column, pivot);
        let pivot_row = matrix[column];
        for row in 0..PARAMETERS {
            if row == column {
                continue;
            }
            let factor = matrix[row][column] / pivot_row[column];
            for (entry, above) in matrix[row].iter_mut().zip(pivot_row) {
                *entry -= factor * above;
            }
            right[row] -= factor * right[column];
        }
    }
    Some(std::array::from_fn(|index| {
        right[index] / matrix[index][index]
    }))
}

impl Fit {
    /// The score at which half of the games are won from the start of a game, in centipawns.
    #[must_use]
    pub fn even_at_start(&self) -> f64 {
        self.model.curves(MOST_MATERIAL).0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRUTH: ChancesModel = ChancesModel {
        even: [90.0, 40.0, -20.0, 15.0],
        spread: [50.0, 20.0, -5.0, 1.0],
    };

    /// The expected number of results under the true model, for every score and material.
    fn ideal() -> Tally {
        const EACH: f64 = 1000.0;
        let mut tally = Tally::default();
        for material in LEAST_MATERIAL..=MOST_MATERIAL {
            for score in (-MOST_SCORE..=MOST_SCORE).step_by(STEP as usize) {
                let (win, loss) = TRUTH.win_and_loss(f64::from(score), material);
                let counts = [win, 1.0 - win - loss, loss].map(|share| (share * EACH) as u64);
                tally.counts[row(material, score)] = counts;
            }
        }
        tally
    }

    #[test]
    fn the_truth_is_found() {
        let tally = ideal();
        let fit = tally.fit().expect("enough positions");
        for material in [17, 30, 58, 78] {
            let (own, truth) = (fit.model.curves(material), TRUTH.curves(material));
            assert!((own.0 - truth.0).abs() < 1.0, "{own:?} {truth:?}");
            assert!((own.1 - truth.1).abs() < 1.0, "{own:?} {truth:?}");
        }
        let (win, _) = TRUTH.win_and_loss(fit.even_at_start(), MOST_MATERIAL);
        assert!((win - 0.5).abs() < 0.01, "{win}");
        assert!(tally.error(&fit.model) < 0.001);
        assert!(tally.share_error(&fit.model) < 0.001);
        let worse = ChancesModel {
            even: [200.0, 0.0, 0.0, 0.0],
            ..TRUTH
        };
        assert!(tally.error(&worse) > 0.02 && tally.share_error(&worse) > 0.05);
    }

    #[test]
    fn too_few_positions_are_refused() {
        assert_eq!(Tally::default().fit().err(), Some(FitError::TooFew(0)));
    }

    #[test]
    fn results_that_the_score_decides_have_no_fit() {
        let mut tally = Tally::default();
        for material in LEAST_MATERIAL..=MOST_MATERIAL {
            for score in (-MOST_SCORE..=MOST_SCORE).step_by(STEP as usize) {
                let counts = match score.signum() {
                    1 => [100, 0, 0],
                    0 => [0, 100, 0],
                    _ => [0, 0, 100],
                };
                tally.counts[row(material, score)] = counts;
            }
        }
        let error = tally.fit().map(|fit| fit.model).err();
        assert!(
            matches!(error, Some(FitError::NotConverged | FitError::Singular)),
            "{error:?}"
        );
    }

    #[test]
    fn materials_and_scores_have_rows_of_their_own() {
        assert_ne!(row(20, 0), row(21, 0));
        assert_ne!(row(20, 0), row(20, STEP));
        assert_eq!(row(5, 0), row(LEAST_MATERIAL, 0));
    }
}
