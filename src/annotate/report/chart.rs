//! A chart of a game: White's expected score as an area, the evaluation as a line, marks at
//! faults, and a clickable field for every position.

use std::fmt::Write as _;

use super::super::expectation::CAP;
use super::super::verdict::Fault;

/// The drawing's size in its own units; it is scaled to the page's width.
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 240.0;
const MARK_RADIUS: f64 = 5.0;
const WHOLE: f64 = 100.0;

/// One position of the game, as the chart shows it.
#[derive(Clone, Copy, Debug)]
pub struct ChartPoint {
    /// White's expected score in percent.
    pub white: f64,
    /// The evaluation in centipawns from White's side, within ±[`CAP`].
    pub centipawns: i32,
    /// The fault of the move that led here.
    pub fault: Option<Fault>,
}

/// The class that the style sheet and the page use for a fault.
#[must_use]
pub const fn class(fault: Option<Fault>) -> &'static str {
    match fault {
        Some(Fault::Inaccuracy) => "inaccuracy",
        Some(Fault::Mistake) => "mistake",
        Some(Fault::Blunder) => "blunder",
        None => "",
    }
}

/// Draws the chart as an SVG element. It contains numbers only, no text of the game.
#[must_use]
pub fn draw(points: &[ChartPoint]) -> String {
    let step = WIDTH / points.len().max(1) as f64;
    let x = |index: usize| (index as f64 + 0.5) * step;
    let percent_y = |white: f64| HEIGHT * (1.0 - white / WHOLE);
    let cap = f64::from(CAP);
    let evaluation_y = |cp: i32| HEIGHT * (0.5 - f64::from(cp) / (2.0 * cap));
    let mut svg = format!(
        "<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" preserveAspectRatio=\"none\" \
         role=\"img\" aria-label=\"expected score and evaluation by move\">"
    );
    // Writing to a string cannot fail.
    let mut area = format!("M0 {HEIGHT}");
    let mut line = String::new();
    for (index, point) in points.iter().enumerate() {
        let y = percent_y(point.white);
        if index == 0 {
            let _ = write!(area, "L0 {y:.1}");
        }
        let _ = write!(area, "L{:.1} {y:.1}", x(index));
        if index + 1 == points.len() {
            let _ = write!(area, "L{WIDTH} {y:.1}");
        }
        let _ = write!(
            line,
            "{:.1},{:.1} ",
            x(index),
            evaluation_y(point.centipawns)
        );
    }
    let _ = write!(area, "L{WIDTH} {HEIGHT}z");
    let middle = HEIGHT / 2.0;
    let _ = write!(
        svg,
        "<path class=\"area\" d=\"{area}\"/>\
         <line class=\"middle\" x1=\"0\" y1=\"{middle}\" x2=\"{WIDTH}\" y2=\"{middle}\"/>\
         <polyline class=\"evaluation\" points=\"{}\"/>\
         <line class=\"cursor\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"{HEIGHT}\"/>",
        line.trim_end()
    );
    for (index, point) in points.iter().enumerate() {
        if point.fault.is_some() {
            let _ = write!(
                svg,
                "<circle class=\"{}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"{MARK_RADIUS}\"/>",
                class(point.fault),
                x(index),
                percent_y(point.white)
            );
        }
    }
    for index in 0..points.len() {
        let _ = write!(
            svg,
            "<rect data-ply=\"{index}\" x=\"{:.2}\" y=\"0\" width=\"{step:.2}\" height=\"{HEIGHT}\"/>",
            index as f64 * step
        );
    }
    svg.push_str("</svg>");
    svg
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_position_has_a_field_and_every_fault_a_mark() {
        let point = |white, fault| ChartPoint {
            white,
            centipawns: 40,
            fault,
        };
        let svg = draw(&[
            point(50.0, None),
            point(60.0, Some(Fault::Blunder)),
            point(0.0, None),
        ]);
        assert_eq!(svg.matches("data-ply").count(), 3);
        assert_eq!(svg.matches("<circle").count(), 1);
        assert!(svg.contains("L833.3 240.0"), "{svg}");
        assert!(draw(&[]).ends_with("</svg>"));
    }
}
