//! A network in memory, laid out for the kernels.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use super::features::KingBuckets;
use super::format::NetError;
use super::row::{EMBEDDED, HIDDEN, Row};
use super::single_layer::{Outputs, QuantisedNet};
use crate::hash::{FNV_OFFSET_BASIS, fnv1a_from};
use crate::memory::LargeTable;

/// An immutable network, shared by all search threads.
#[derive(Debug)]
pub struct Network {
    name: String,
    king_buckets: KingBuckets,
    feature_weights: LargeTable<Row>,
    feature_bias: Row,
    outputs: Outputs,
}

impl Network {
    /// The network that was built in. It is unpacked once, at first use.
    ///
    /// # Panics
    /// If the file that the build was given is no network of a known architecture; `build.rs` has
    /// checked that it is undamaged.
    #[must_use]
    pub fn embedded() -> Arc<Network> {
        static NETWORK: OnceLock<Arc<Network>> = OnceLock::new();
        let unpack = || {
            let net =
                QuantisedNet::from_undamaged_bytes(EMBEDDED).and_then(|net| Network::new(&net));
            Arc::new(net.expect("the embedded network has a known architecture"))
        };
        NETWORK.get_or_init(unpack).clone()
    }

    /// Reads a network from a file.
    ///
    /// # Errors
    /// The file is unreadable, damaged or no network, or its width is not [`HIDDEN`].
    pub fn load(path: &Path) -> Result<Arc<Network>, NetError> {
        QuantisedNet::load(path)
            .and_then(|net| Network::new(&net))
            .map(Arc::new)
            .map_err(|error| error.in_file(path))
    }

    /// Lays out a network for the kernels.
    ///
    /// # Errors
    /// [`NetError::OtherArchitecture`] if its width is not [`HIDDEN`].
    pub fn new(net: &QuantisedNet) -> Result<Network, NetError> {
        let shape = net.shape;
        if shape.hidden != HIDDEN {
            return Err(NetError::OtherArchitecture {
                field: "hidden",
                found: shape.hidden as u32,
                expected: format!("{HIDDEN} in this build"),
            });
        }
        let features = shape.features();
        let mut feature_weights = LargeTable::<Row>::new(features).expect("memory for a network");
        let rows = net.feature_weights.chunks_exact(HIDDEN);
        for (row, weights) in feature_weights.iter_mut().zip(rows) {
            row.0.copy_from_slice(weights);
        }
        Ok(Network {
            name: net.name.clone(),
            king_buckets: shape.king_buckets,
            feature_weights,
            feature_bias: Row::from_slice(&net.feature_bias),
            outputs: Outputs::new(net),
        })
    }

    /// What the network calls itself.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A hash of the first layer, which tells networks of one name apart.
    #[must_use]
    pub fn digest(&self) -> u64 {
        let rows = self.feature_weights.iter().chain([&self.feature_bias]);
        rows.fold(FNV_OFFSET_BASIS, |hash, row| {
            fnv1a_from(hash, bytemuck::cast_slice(&row.0))
        })
    }

    /// Whether the output is without the factor by material; see [`QuantisedNet::bare`].
    #[inline]
    #[must_use]
    pub const fn is_bare(&self) -> bool {
        self.outputs.is_bare()
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

    /// What follows the hidden layer.
    #[inline]
    pub(super) const fn outputs(&self) -> &Outputs {
        &self.outputs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nnue::single_layer::HIDDEN_STEP;
    use crate::nnue::synthetic;

    #[test]
    #[cfg_attr(miri, ignore = "compressed by C code")]
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
        assert!(text.contains(&net.shape.hidden.to_string()), "{text}");
    }

    #[test]
    #[cfg_attr(miri, ignore = "compressed by C code")]
    fn a_network_loads_from_disk() {
        let directory = std::env::temp_dir().join(format!("pleach-net-{}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("a temporary directory");
        let path = directory.join("random.pnn");
        let net = synthetic::random(HIDDEN, 3);
        net.save(&path).expect("written");
        assert_eq!(Network::load(&path).expect("loaded").name(), net.name);
        std::fs::write(&path, b"not a network").expect("written");
        let error = Network::load(&path).expect_err("no network").to_string();
        assert!(
            error.contains("random.pnn: not a Pleach network"),
            "{error}"
        );
        std::fs::remove_dir_all(&directory).expect("removed");
        assert!(matches!(Network::load(&path), Err(NetError::Io { .. })));
    }
}
