//! The scale that recorded results suggest: how many centipawns stand for how much expected score.

use crate::nnue::single_layer::MAX_SCALE;

use super::sample::Sample;

/// The logarithm of the likelihood of the results, its derivative, and minus its second derivative.
struct Likelihood {
    value: f64,
    slope: f64,
    curve: f64,
}

impl Likelihood {
    /// With the curve sigmoid(score * inverse).
    fn of<'a>(samples: impl Iterator<Item = &'a Sample>, inverse: f64) -> Likelihood {
        let mut sum = Likelihood {
            value: 0.0,
            slope: 0.0,
            curve: 0.0,
        };
        for sample in samples {
            let score = f64::from(sample.score);
            let result = f64::from(sample.half_points) / 2.0;
            let logit = score * inverse;
            let expected = 1.0 / (1.0 + (-logit).exp());
            // ln(1 + e^logit), without overflow.
            let softplus = logit.max(0.0) + (-logit.abs()).exp().ln_1p();
            sum.value += result * logit - softplus;
            sum.slope += (result - expected) * score;
            sum.curve += expected * (1.0 - expected) * score * score;
        }
        sum
    }
}

/// Fits K of the logistic curve sigmoid(score / K) to the results by Newton's method on 1 / K, a
/// step halved until it makes the results likelier. `None` where the results do not determine K
/// (all alike, unrelated to the scores, or decided by their signs), or only one outside the range
/// that a scale may have.
#[must_use]
pub fn fit_scale(samples: &[Sample]) -> Option<f64> {
    const ROUNDS: usize = 30;
    const START: f64 = 1.0 / 300.0;
    const MOST: usize = 2_000_000;
    /// A step of at most this share of the estimate is the last.
    const PRECISION: f64 = 1e-9;
    let stride = samples.len().div_ceil(MOST).max(1);
    let likelihood = |inverse| Likelihood::of(samples.iter().step_by(stride), inverse);
    let mut inverse = START;
    let mut found = likelihood(inverse);
    for _ in 0..ROUNDS {
        if found.curve <= 0.0 {
            return None;
        }
        let mut step = found.slope / found.curve;
        loop {
            if step.abs() <= inverse.abs() * PRECISION {
                let scale = 1.0 / inverse;
                return (1.0..=f64::from(MAX_SCALE))
                    .contains(&scale)
                    .then_some(scale);
            }
            let next = likelihood(inverse + step);
            if next.value >= found.value {
                inverse += step;
                found = next;
                break;
            }
            step /= 2.0;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;

    fn scored(score: i16, half_points: u8) -> Sample {
        let mut sample = Sample::default();
        (sample.score, sample.half_points) = (score, half_points);
        sample
    }

    #[test]
    fn the_scale_behind_results_is_found() {
        const SCALE: f64 = 230.0;
        let mut samples = Vec::new();
        for number in 0..200_000u64 {
            let score = (mix(number) % 1200) as i16 - 600;
            let expected = 1.0 / (1.0 + (-f64::from(score) / SCALE).exp());
            let draw = mix(number ^ 1 << 40) as f64 / u64::MAX as f64;
            let half_points = if draw < expected { 2 } else { 0 };
            samples.push(scored(score, half_points));
        }
        let fitted = fit_scale(&samples).expect("a scale");
        assert!((fitted - SCALE).abs() < 5.0, "{fitted}");
        assert_eq!(fit_scale(&[]), None);
    }

    /// A full step from the first guess would overshoot.
    #[test]
    fn a_scale_is_found_from_far_scores() {
        let samples: Vec<Sample> = (0..20_000u64)
            .map(|number| {
                let score = (mix(number) % 10_000) as i16 - 5000;
                let drawn = number.is_multiple_of(10);
                let half_points = if drawn { 1 } else { 1 + score.signum() } as u8;
                scored(score, half_points)
            })
            .collect();
        let scale = fit_scale(&samples).expect("a scale");
        assert!((100.0..5000.0).contains(&scale), "{scale}");
    }

    #[test]
    fn results_that_determine_no_scale_give_none() {
        let samples = |half_points: fn(i16) -> u8| -> Vec<Sample> {
            [-800, -300, -20, 30, 200, 900, 1000]
                .map(|score| scored(score, half_points(score)))
                .to_vec()
        };
        assert_eq!(fit_scale(&samples(|_| 1)), None, "drawn");
        let by_sign = |score: i16| (1 + score.signum()) as u8;
        assert_eq!(fit_scale(&samples(by_sign)), None, "decided by the sign");
        let against = |score: i16| (1 - score.signum()) as u8;
        assert_eq!(fit_scale(&samples(against)), None, "against the score");
    }
}
