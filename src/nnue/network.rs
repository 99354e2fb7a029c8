//! A network in memory, laid out for the kernels.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use bytemuck::Zeroable;

use super::features::KingBuckets;
use super::format::{BUCKETS, NetError, PIECE_FEATURES, QA, QB, QuantisedNet};
use crate::files;
use crate::memory::LargeTable;

include!(concat!(env!("OUT_DIR"), "/network.rs"));

/// One value per hidden unit, aligned to a cache line and to the widest registers.
#[derive(Clone, Debug, PartialEq, Eq, Zeroable)]
#[repr(C, align(64))]
pub struct Row(pub [i16; HIDDEN]);

impl Row {
    /// A row of zeros.
    pub const ZERO: Row = Row([0; HIDDEN]);

    fn from_slice(values: &[i16]) -> Row {
        let mut row = Row::ZERO;
        row.0.copy_from_slice(values);
        row
    }
}

impl QuantisedNet {
    /// Writes the network file, whole or not at all.
    ///
    /// # Errors
    /// [`NetError::Io`] if the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), NetError> {
        files::replace(path, &self.to_bytes()).map_err(|source| NetError::Io {
            path: path.to_path_buf(),
            source,
        })
    }
}

/// An immutable network, shared by all search threads.
#[derive(Debug)]
pub struct Network {
    name: String,
    scale: i32,
    bare: bool,
    king_buckets: KingBuckets,
    feature_weights: LargeTable<Row>,
    feature_bias: Row,
    output_weights: Box<[[Row; 2]; BUCKETS]>,
    output_bias: [i32; BUCKETS],
}

impl Network {
    /// The network that was built in. It is unpacked once, when first asked for.
    ///
    /// # Panics
    /// Never: the build fails on a file that does not load.
    #[must_use]
    pub fn embedded() -> Arc<Network> {
        static NETWORK: OnceLock<Arc<Network>> = OnceLock::new();
        let unpack = || {
            let net = QuantisedNet::from_bytes(EMBEDDED).and_then(|net| Network::new(&net));
            Arc::new(net.expect("build.rs checked the embedded network"))
        };
        NETWORK.get_or_init(unpack).clone()
    }

    /// Reads a network from a file.
    ///
    /// # Errors
    /// The file is unreadable, damaged or no network, or its width is not [`HIDDEN`].
    pub fn load(path: &Path) -> Result<Arc<Network>, NetError> {
        Network::new(&QuantisedNet::load(path)?).map(Arc::new)
    }

    /// Lays out a network for the kernels.
    ///
    /// # Errors
    /// [`NetError::OtherArchitecture`] if its width is not [`HIDDEN`].
    pub fn new(net: &QuantisedNet) -> Result<Network, NetError> {
        let other = |field, found, expected: usize| {
            let expected = format!("{expected} in this build");
            NetError::OtherArchitecture {
                field,
                found,
                expected,
            }
        };
        if net.hidden != HIDDEN {
            return Err(other("hidden", net.hidden as u32, HIDDEN));
        }
        let rows = net.feature_weights.chunks_exact(HIDDEN);
        let features = rows.len();
        let Some(king_buckets) = KingBuckets::with_count(net.king_buckets()) else {
            let most = KingBuckets::Ten.count() * PIECE_FEATURES;
            return Err(other("features", features as u32, most));
        };
        let mut feature_weights = LargeTable::<Row>::new(features).expect("memory for a network");
        for (row, weights) in feature_weights.iter_mut().zip(rows) {
            row.0.copy_from_slice(weights);
        }
        let mut output_weights = Box::new([const { [Row::ZERO; 2] }; BUCKETS]);
        let pairs = net.output_weights.chunks_exact(2 * HIDDEN);
        for (pair, weights) in output_weights.iter_mut().zip(pairs) {
            *pair = [
                Row::from_slice(&weights[..HIDDEN]),
                Row::from_slice(&weights[HIDDEN..]),
            ];
        }
        let mut output_bias = [0; BUCKETS];
        output_bias.copy_from_slice(&net.output_bias);
        Ok(Network {
            name: net.name.clone(),
            scale: net.scale,
            bare: net.bare,
            king_buckets,
            feature_weights,
            feature_bias: Row::from_slice(&net.feature_bias),
            output_weights,
            output_bias,
        })
    }

    /// What the network calls itself.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the output is without the factor by material; see [`QuantisedNet::bare`].
    #[inline]
    #[must_use]
    pub const fn is_bare(&self) -> bool {
        self.bare
    }

    /// How the squares of the viewer's king are grouped.
    #[inline]
    pub(super) const fn king_buckets(&self) -> KingBuckets {
        self.king_buckets
    }

    /// What one input adds to the hidden layer.
    #[inline]
    pub(super) fn feature(&self, index: usize) -> &Row {
        &self.feature_weights[index]
    }

    /// The hidden layer of an empty board.
    pub(super) const fn bias(&self) -> &Row {
        &self.feature_bias
    }

    /// Output weights for the hidden layers of the side to move and of the other side.
    #[inline]
    pub(super) fn output(&self, bucket: usize) -> &[Row; 2] {
        &self.output_weights[bucket]
    }

    /// Turns the output layer's sum, in units of 4/(QA·QA·QB), into centipawns.
    ///
    /// Integers throughout and always in this order: trainer and kernels agree to the last bit.
    #[inline]
    pub(super) fn centipawns(&self, sum: i32, bucket: usize) -> i32 {
        let output = 4 * i64::from(sum) / i64::from(QA) + i64::from(self.output_bias[bucket]);
        (output * i64::from(self.scale) / i64::from(QA * QB)) as i32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nnue::format::HIDDEN_STEP;
    use crate::nnue::synthetic;

    #[test]
    fn the_embedded_network_loads() {
        let net = Network::embedded();
        assert!(!net.name().is_empty());
        assert!(Arc::ptr_eq(&net, &Network::embedded()));
    }

    #[test]
    fn another_width_is_refused() {
        let net = synthetic::random(HIDDEN + HIDDEN_STEP, 1);
        let error = Network::new(&net).expect_err("another width");
        let text = error.to_string();
        assert!(text.contains(&HIDDEN.to_string()), "{text}");
        assert!(text.contains(&net.hidden.to_string()), "{text}");
    }

    #[test]
    fn a_network_loads_from_disk() {
        let directory = std::env::temp_dir().join(format!("pleach-net-{}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("a temporary directory");
        let path = directory.join("random.pnn");
        let net = synthetic::random(HIDDEN, 3);
        net.save(&path).expect("written");
        assert_eq!(Network::load(&path).expect("loaded").name(), net.name);
        std::fs::write(&path, b"not a network").expect("written");
        assert!(matches!(Network::load(&path), Err(NetError::WrongMagic)));
        std::fs::remove_dir_all(&directory).expect("removed");
        assert!(matches!(Network::load(&path), Err(NetError::Io { .. })));
    }
}
