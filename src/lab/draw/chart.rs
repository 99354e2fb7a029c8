//! A line chart as SVG.

use std::fmt::Write as _;

use super::svg::escape;

/// A line with its name.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    pub name: String,
    /// Values at 1, 2, 3, ... on the horizontal axis, none negative.
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
const WIDTH: f64 = 820.0;
const HEIGHT: f64 = 440.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 230.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 50.0;
const LINE: f64 = 17.0;
/// Colours that most colour-blind readers can tell apart too, in turns with dashes.
const COLOURS: [&str; 7] = [
    "#1b6ca8", "#d1495b", "#3a7d44", "#8d5fa8", "#c77700", "#4a4a4a", "#17a2a2",
];
/// About how many lines a scale should have.
const GRID_LINES: f64 = 6.0;
/// Characters of a name in one line of the legend.
const LEGEND_WIDTH: usize = 28;
const DASHES: [&str; 2] = ["", " stroke-dasharray=\"6 4\""];

/// Where values stand in the picture.
struct ChartScales {
    /// Values of the longest line, at least two.
    longest: usize,
    /// From one grid line to the next.
    step: f64,
    /// The value of the highest grid line.
    top: f64,
}

impl ChartScales {
    fn of(series: &[Series]) -> ChartScales {
        let lengths = series.iter().map(|line| line.values.len());
        let values = series.iter().flat_map(|line| &line.values);
        let largest = values.fold(0.0, |largest: f64, value| largest.max(*value));
        let step = grid_step(largest);
        ChartScales {
            longest: lengths.max().unwrap_or(0).max(2),
            step,
            top: (largest / step).ceil().max(1.0) * step,
        }
    }

    fn x(&self, index: usize) -> f64 {
        LEFT + (WIDTH - LEFT - RIGHT) * index as f64 / (self.longest - 1) as f64
    }

    fn y(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / self.top
    }

    /// Grid lines with their values.
    fn grid_lines(&self, page: &mut String) {
        for number in 0..=(self.top / self.step).round() as u32 {
            let value = f64::from(number) * self.step;
            let (at, text) = (self.y(value), plain(value));
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
    }

    /// The numbers below, from 1.
    fn numbers(&self, page: &mut String) {
        for index in 0..self.longest {
            let _ = writeln!(
                page,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                self.x(index),
                HEIGHT - BOTTOM + 18.0,
                index + 1
            );
        }
    }
}

impl Chart {
    /// Draws the chart as a complete SVG document.
    #[must_use]
    pub fn svg(&self) -> String {
        let scales = ChartScales::of(&self.series);
        let mut page = String::new();
        let _ = writeln!(
            page,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             width=\"{WIDTH}\" height=\"{HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
             <text x=\"{LEFT}\" y=\"22\" font-size=\"15\">{}</text>",
            escape(&self.title)
        );
        scales.grid_lines(&mut page);
        scales.numbers(&mut page);
        self.axis_titles(&mut page);
        let mut legend = TOP;
        for (number, line) in self.series.iter().enumerate() {
            legend = Self::line(number, line, legend, &scales, &mut page);
        }
        page.push_str("</svg>\n");
        page
    }

    fn axis_titles(&self, page: &mut String) {
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
    }

    /// One line and its entry in the legend, which begins at the height `legend`; returns where
    /// the next one begins.
    fn line(
        number: usize,
        line: &Series,
        legend: f64,
        scales: &ChartScales,
        page: &mut String,
    ) -> f64 {
        let colour = COLOURS[number % COLOURS.len()];
        let dash = DASHES[number / COLOURS.len() % DASHES.len()];
        let points: Vec<_> = line
            .values
            .iter()
            .enumerate()
            .map(|(index, value)| format!("{:.1},{:.1}", scales.x(index), scales.y(*value)))
            .collect();
        let start = WIDTH - RIGHT + 18.0;
        let _ = writeln!(
            page,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dash}/>\n\
             <line x1=\"{start}\" x2=\"{:.1}\" y1=\"{legend:.1}\" y2=\"{legend:.1}\" \
             stroke=\"{colour}\" stroke-width=\"2\"{dash}/>",
            points.join(" "),
            start + 24.0,
        );
        let rows = wrapped(&line.name);
        for (row, text) in (0u32..).zip(&rows) {
            let _ = writeln!(
                page,
                "<text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                start + 30.0,
                legend + 4.0 + LINE * f64::from(row),
                escape(text)
            );
        }
        legend + LINE * rows.len() as f64
    }
}

/// The distance of grid lines for values up to `largest`: 1, 2 or 5 times a power of ten.
fn grid_step(largest: f64) -> f64 {
    if largest <= 0.0 {
        return 1.0;
    }
    let rough = largest / GRID_LINES;
    let decade = 10f64.powf(rough.log10().floor());
    let steps = [1.0, 2.0, 5.0].map(|step| step * decade);
    steps
        .into_iter()
        .find(|step| *step >= rough)
        .unwrap_or(10.0 * decade)
}

/// A number of the scale without noise in its last digits.
fn plain(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A name broken at spaces into lines that fit the legend.
fn wrapped(name: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in name.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= LEGEND_WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
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
        assert!(page.contains(">1000</text>") && page.contains("Nodes &amp; depth"));
        assert_eq!((grid_step(7.0), grid_step(0.9)), (2.0, 0.2));
        assert_eq!(
            (plain(0.2 + 0.1), plain(20.0)),
            ("0.3".to_owned(), "20".to_owned())
        );
        assert_eq!(
            wrapped("alpha-beta, fail-hard, fail-soft, with memory").len(),
            2
        );
    }
}
