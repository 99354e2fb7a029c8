//! Trees written as text, for pictures and worked examples.
//!
//! A node is a number (a leaf), or its successors in parentheses, with an optional name in front.
//! A node with a name may have both, first the value of a search that stops there:
//!
//! ```text
//! # Two moves for Max, two replies each; the second move's first reply refutes it.
//! root: (
//!     left:  (4 3)
//!     right: 2 (1 9)
//! )
//! ```
//!
//! Lines that start with a word are settings: `min` lets Min move at the root, `mover` says that
//! numbers are seen by the side to move where they stand (instead of by Max), and
//! `window -3 +7` gives the root's window, for the algorithms that take one.

use thiserror::Error;

use crate::lab::game::{GameTree, INFINITY, MAX_DEPTH, NodeValue, TreePlayer};
use crate::lab::window::ValueWindow;

/// A node of the tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Branch {
    name: Option<String>,
    value: Option<NodeValue>,
    successors: Vec<usize>,
    ply: u32,
}

/// A tree held in memory.
#[derive(Clone, Debug)]
pub struct Explicit {
    branches: Vec<Branch>,
    first: TreePlayer,
    /// Numbers are seen by the side to move instead of Max.
    by_mover: bool,
    window: Option<ValueWindow>,
}

/// What is wrong with a tree's text.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TreeError {
    #[error("line {line}: expected {expected}, found {found}")]
    Unexpected {
        line: usize,
        expected: &'static str,
        found: String,
    },
    #[error(
        "line {line}: expected a number between -999999 and 999999, a name with a colon, or \
         successors in parentheses, found {text:?}"
    )]
    Number { line: usize, text: String },
    #[error("line {line}: the window's alpha {alpha} must not exceed its beta {beta}")]
    ValueWindow {
        line: usize,
        alpha: NodeValue,
        beta: NodeValue,
    },
    #[error("line {line}: the tree is more than {MAX_DEPTH} plies deep")]
    TooDeep { line: usize },
}

impl Explicit {
    /// Reads a tree; see the module's description.
    ///
    /// # Errors
    /// [`TreeError`] says what is wrong and in which line.
    pub fn parse(text: &str) -> Result<Explicit, TreeError> {
        let mut parser = Parser {
            tokens: tokenise(text),
            at: 0,
            branches: Vec::new(),
        };
        let (mut first, mut by_mover, mut window) = (TreePlayer::Max, false, None);
        loop {
            match parser.peek() {
                Some("max") => first = TreePlayer::Max,
                Some("min") => first = TreePlayer::Min,
                Some("mover") => by_mover = true,
                Some("window") => {
                    parser.at += 1;
                    window = Some(parser.window()?);
                    continue;
                }
                _ => break,
            }
            parser.at += 1;
        }
        parser.branch(0)?;
        match parser.peek() {
            None => Ok(Explicit {
                branches: parser.branches,
                first,
                by_mover,
                window,
            }),
            Some(_) => Err(parser.unexpected("the end of the text")),
        }
    }

    /// The root's window, if the text gives one.
    #[must_use]
    pub fn window(&self) -> Option<ValueWindow> {
        self.window
    }

    /// Plies from the root to the deepest leaf.
    #[must_use]
    pub fn height(&self) -> u32 {
        self.branches
            .iter()
            .map(|branch| branch.ply)
            .max()
            .unwrap_or(0)
    }

    /// The name of a node, if it has one.
    #[must_use]
    pub fn name(&self, position: usize) -> Option<&str> {
        self.branches[position].name.as_deref()
    }
}

impl GameTree for Explicit {
    /// An index into the tree's nodes; the root is 0.
    type Position = usize;
    /// The place among the successors.
    type Move = usize;

    fn start(&self) -> usize {
        0
    }

    fn side(&self, position: &usize) -> TreePlayer {
        if self.branches[*position].ply.is_multiple_of(2) {
            self.first
        } else {
            self.first.other()
        }
    }

    fn moves(&self, position: &usize) -> Vec<usize> {
        (0..self.branches[*position].successors.len()).collect()
    }

    fn play(&self, position: &usize, mv: usize) -> usize {
        self.branches[*position].successors[mv]
    }

    fn value(&self, position: &usize) -> NodeValue {
        let value = self.branches[*position].value.unwrap_or(0);
        if self.by_mover {
            self.side(position).view(value)
        } else {
            value
        }
    }

    fn key(&self, position: &usize) -> u64 {
        *position as u64
    }

    fn root_label(&self) -> String {
        self.name(0).unwrap_or("root").to_owned()
    }

    fn label(&self, position: &usize, mv: usize) -> String {
        match self.name(self.play(position, mv)) {
            Some(name) => name.to_owned(),
            None => (mv + 1).to_string(),
        }
    }
}

/// Words, numbers and parentheses with their lines. A colon ends a name and stays with it.
fn tokenise(text: &str) -> Vec<(usize, String)> {
    let mut tokens = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let code = line.split('#').next().unwrap_or_default();
        let spaced = code
            .replace('(', " ( ")
            .replace(')', " ) ")
            .replace(':', ": ");
        tokens.extend(
            spaced
                .split_whitespace()
                .map(|word| (number + 1, word.to_owned())),
        );
    }
    tokens
}

struct Parser {
    tokens: Vec<(usize, String)>,
    at: usize,
    branches: Vec<Branch>,
}

impl Parser {
    fn peek(&self) -> Option<&str> {
        self.tokens.get(self.at).map(|(_, token)| token.as_str())
    }

    /// The line of the next token, or of the last one.
    fn line(&self) -> usize {
        self.tokens
            .get(self.at)
            .or(self.tokens.last())
            .map_or(1, |(line, _)| *line)
    }

    fn unexpected(&self, expected: &'static str) -> TreeError {
        let found = self
            .peek()
            .map_or("the end of the text".to_owned(), |text| format!("{text:?}"));
        TreeError::Unexpected {
            line: self.line(),
            expected,
            found,
        }
    }

    fn number(&mut self) -> Result<NodeValue, TreeError> {
        let line = self.line();
        let Some(text) = self.peek() else {
            return Err(self.unexpected("a number"));
        };
        // A true minus sign is welcome too.
        let parsed = text.replace('−', "-").parse::<NodeValue>().ok();
        let value = parsed.filter(|value| value.abs() < INFINITY);
        let value = value.ok_or_else(|| TreeError::Number {
            line,
            text: text.to_owned(),
        })?;
        self.at += 1;
        Ok(value)
    }

    fn window(&mut self) -> Result<ValueWindow, TreeError> {
        let line = self.line();
        let (alpha, beta) = (self.number()?, self.number()?);
        if alpha <= beta {
            Ok(ValueWindow { alpha, beta })
        } else {
            Err(TreeError::ValueWindow { line, alpha, beta })
        }
    }

    fn branch(&mut self, ply: u32) -> Result<usize, TreeError> {
        if ply > MAX_DEPTH {
            return Err(TreeError::TooDeep { line: self.line() });
        }
        let at = self.branches.len();
        self.branches.push(Branch {
            ply,
            ..Branch::default()
        });
        if let Some(name) = self.peek().and_then(|token| token.strip_suffix(':')) {
            self.branches[at].name = Some(name.to_owned());
            self.at += 1;
        }
        if self
            .peek()
            .is_some_and(|token| token != "(" && token != ")")
        {
            self.branches[at].value = Some(self.number()?);
        }
        // Without a name, a number is a leaf, and parentheses after it are the next successor.
        let (named, valued) = (
            self.branches[at].name.is_some(),
            self.branches[at].value.is_some(),
        );
        if self.peek() == Some("(") && (named || !valued) {
            self.at += 1;
            while self.peek() != Some(")") {
                let below = self.branch(ply + 1)?;
                self.branches[at].successors.push(below);
            }
            self.at += 1;
        }
        let branch = &self.branches[at];
        if branch.value.is_none() && branch.successors.is_empty() {
            return Err(self.unexpected("a value or successors in parentheses"));
        }
        Ok(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_names_values_and_settings() {
        let tree =
            Explicit::parse("min\nmover\nwindow -3 +7 # the root's\nw: ( x: 2 ( 5 −9 ) y:4 )")
                .unwrap();
        assert_eq!(tree.window(), Some(ValueWindow::new(-3, 7)));
        assert_eq!(tree.side(&0), TreePlayer::Min);
        assert_eq!(tree.name(0), Some("w"));
        assert_eq!(tree.moves(&0), [0, 1]);
        let x = tree.play(&0, 0);
        assert_eq!((tree.name(x), tree.value(&x)), (Some("x"), 2));
        // Min moves in x's successors, whose numbers are the mover's.
        assert_eq!(tree.value(&tree.play(&x, 1)), 9);
        assert_eq!(tree.height(), 2);
    }

    #[test]
    fn a_number_without_a_name_is_a_leaf() {
        let tree = Explicit::parse("( 4 ( 2 9 ) x: 3 ( 5 ) )").unwrap();
        let [leaf, pair, x] = [0, 1, 2].map(|index| tree.play(&0, index));
        assert_eq!((tree.value(&leaf), tree.moves(&leaf).len()), (4, 0));
        assert_eq!(tree.moves(&pair).len(), 2);
        assert_eq!((tree.value(&x), tree.moves(&x).len()), (3, 1));
    }

    #[test]
    fn says_what_is_wrong_and_where() {
        let message = |text| Explicit::parse(text).unwrap_err().to_string();
        assert_eq!(
            message("(1\n(2 x))"),
            "line 2: expected a number between -999999 and 999999, a name with a colon, or \
             successors in parentheses, found \"x\""
        );
        assert_eq!(
            message("(1 2"),
            "line 1: expected a value or successors in parentheses, found the end of the text"
        );
        assert_eq!(
            message("1 2"),
            "line 1: expected the end of the text, found \"2\""
        );
        assert_eq!(
            message("window 4 3 1"),
            "line 1: the window's alpha 4 must not exceed its beta 3"
        );
        assert!(Explicit::parse("window 3 3 1").is_ok());
        assert!(Explicit::parse("").is_err());
        assert!(Explicit::parse("()").is_err());
        assert!(Explicit::parse("1000000").is_err());
        assert!(Explicit::parse(&"(".repeat(10_000)).is_err());
    }
}
