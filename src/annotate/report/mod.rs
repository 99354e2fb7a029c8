//! The report: one self-contained HTML page for each game, and an index of pages.
//!
//! All text of a game passes through the template engine's escaping or, for the page's script,
//! through JSON whose `<`, `>`, `&` are escaped; the script shows text as text only.

mod chart;
mod file_names;
mod index;
mod page;

pub use file_names::game_file;
pub use index::{IndexEntry, write_index};
pub use page::{GameInfo, page};

/// Style sheet, piece drawings and script of every page.
const STYLE: &str = include_str!("style.css");
const PIECES: &str = include_str!("pieces.svg");
const SCRIPT: &str = include_str!("game.js");

#[cfg(test)]
mod tests {
    use super::*;

    /// What the accessibility guidelines (WCAG 2, level AA) ask for text.
    const LEAST_CONTRAST: f64 = 4.5;

    /// A variable's colour in a rule for `:root`, as red, green and blue from 0 to 1.
    fn color(root: &str, name: &str) -> Option<[f64; 3]> {
        let (_, value) = root.split_once(&format!("--{name}: #"))?;
        let channel = |at: usize| {
            let byte = u8::from_str_radix(value.get(at..at + 2)?, 16).ok()?;
            Some(f64::from(byte) / f64::from(u8::MAX))
        };
        Some([channel(0)?, channel(2)?, channel(4)?])
    }

    fn luminance(color: [f64; 3]) -> f64 {
        let [red, green, blue] = color.map(|channel| {
            if channel <= 0.04045 {
                channel / 12.92
            } else {
                ((channel + 0.055) / 1.055).powf(2.4)
            }
        });
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    fn contrast(one: [f64; 3], other: [f64; 3]) -> f64 {
        let (one, other) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    #[test]
    fn text_stands_out_from_what_is_behind_it() {
        let mut roots = STYLE.split(":root {").skip(1);
        let light = roots.next().expect("the light colours");
        let dark = roots.next().expect("the dark colours");
        let texts = "text dim inaccuracy-text mistake-text blunder-text accent";
        let on_pages = texts
            .split(' ')
            .flat_map(|text| [(text, "back"), (text, "panel")]);
        let on_squares = [("coordinate", "light"), ("coordinate", "dark")];
        for (text, behind) in on_pages.chain(on_squares) {
            for own in [light, dark] {
                // Dark mode has the light colours that it does not change.
                let of = |name| color(own, name).or_else(|| color(light, name));
                let (text_color, back_color) = (of(text).expect(text), of(behind).expect(behind));
                let found = contrast(text_color, back_color);
                assert!(found >= LEAST_CONTRAST, "{text} on {behind}: {found:.2}");
            }
        }
    }
}
