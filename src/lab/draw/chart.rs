//! A line chart as SVG, its vertical axis logarithmic: nodes by depth grow too fast for any other.

use std::fmt::Write as _;

use super::svg::escape;

/// A line with its name.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    pub name: String,
    /// Values at 1, 2, 3, ... on the horizontal axis; those below 1 are drawn as 1.
    pub values: Vec<f64>,
}

/// A chart of one or more lines.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    pub title: String,
    pub across: String,
    pub up: String,
    pub series: Vec<Series>,
}

/// Pixels.
const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 440.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 170.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 50.0;
const LINE: f64 = 17.0;
/// Colours that stay apart, also for most colour-blind readers, in turns with dashes.
const COLOURS: [&str; 7] = [
    "#1b6ca8", "#d1495b", "#3a7d44", "#8d5fa8", "#c77700", "#4a4a4a", "#17a2a2",
];
const DASHES: [&str; 2] = ["", " stroke-dasharray=\"6 4\""];

impl Chart {
    /// Draws the chart as a complete SVG document.
    #[must_use]
    pub fn svg(&self) -> String {
        let longest = self
            .series
            .iter()
            .map(|line| line.values.len())
            .max()
            .unwrap_or(0)
            .max(2);
        let values = self.series.iter().flat_map(|line| &line.values);
        let largest = values.fold(10.0, |largest: f64, value| largest.max(*value));
        let decades = largest.log10().ceil();
        let x = |index: usize| LEFT + (WIDTH - LEFT - RIGHT) * index as f64 / (longest - 1) as f64;
        let y = |value: f64| {
            HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value.max(1.0).log10() / decades
        };
        let mut page = String::new();
        let _ = writeln!(
            page,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             width=\"{WIDTH}\" height=\"{HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
             <text x=\"{LEFT}\" y=\"22\" font-size=\"15\">{}</text>",
            escape(&self.title)
        );
        for decade in 0..=decades as i32 {
            let (at, text) = (y(10f64.powi(decade)), superscript(decade));
            let _ = writeln!(
                page,
                "<line x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{at:.1}\" y2=\"{at:.1}\" \
                 stroke=\"#dddddd\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{text}\
                 </text>",
                WIDTH - RIGHT,
                LEFT - 8.0,
                at + 4.0
            );
        }
        for index in 0..longest {
            let _ = writeln!(
                page,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                x(index),
                HEIGHT - BOTTOM + 18.0,
                index + 1
            );
        }
        let _ = writeln!(
            page,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n\
             <text transform=\"translate(18 {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            f64::midpoint(LEFT, WIDTH - RIGHT),
            HEIGHT - 12.0,
            escape(&self.across),
            f64::midpoint(TOP, HEIGHT - BOTTOM),
            escape(&self.up)
        );
        for (number, line) in self.series.iter().enumerate() {
            self.line(number, line, &x, &y, &mut page);
        }
        page.push_str("</svg>\n");
        page
    }

    /// One line and its entry in the legend.
    fn line(
        &self,
        number: usize,
        line: &Series,
        x: &impl Fn(usize) -> f64,
        y: &impl Fn(f64) -> f64,
        page: &mut String,
    ) {
        let colour = COLOURS[number % COLOURS.len()];
        let dash = DASHES[number / COLOURS.len() % DASHES.len()];
        let points: Vec<_> = line
            .values
            .iter()
            .enumerate()
            .map(|(index, value)| format!("{:.1},{:.1}", x(index), y(*value)))
            .collect();
        let legend = TOP + LINE * number as f64;
        let start = WIDTH - RIGHT + 18.0;
        let _ = writeln!(
            page,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dash}/>\n\
             <line x1=\"{start}\" x2=\"{:.1}\" y1=\"{legend:.1}\" y2=\"{legend:.1}\" \
             stroke=\"{colour}\" stroke-width=\"2\"{dash}/>\
             <text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            points.join(" "),
            start + 24.0,
            start + 30.0,
            legend + 4.0,
            escape(&line.name)
        );
    }
}

/// Ten to the power of `exponent`, as people write it.
fn superscript(exponent: i32) -> String {
    let digits = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let text = exponent.unsigned_abs().to_string();
    let raised: String = text
        .chars()
        .filter_map(|digit| digit.to_digit(10))
        .filter_map(|digit| digits.get(digit as usize))
        .collect();
    format!("10{raised}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_a_series() {
        let chart = Chart {
            title: "Nodes & depth".to_owned(),
            across: "depth".to_owned(),
            up: "nodes".to_owned(),
            series: vec![
                Series {
                    name: "a".to_owned(),
                    values: vec![1.0, 10.0, 1000.0],
                },
                Series {
                    name: "b".to_owned(),
                    values: vec![0.0],
                },
            ],
        };
        let page = chart.svg();
        assert_eq!(page.matches("<polyline").count(), 2);
        assert!(page.contains("10³") && page.contains("Nodes &amp; depth"));
        assert_eq!(superscript(12), "10¹²");
    }
}
