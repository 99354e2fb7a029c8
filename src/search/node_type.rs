//! Kinds of nodes.
//!
//! A *PV node* is searched with an open window and may return an exact score; all others are
//! searched with a zero window, which only asks whether the score is above or below. Of those, a
//! *cut node* is expected to have one move that refutes the parent's move, an *all node* to try
//! every move without a cutoff. The children of all nodes are expected to be cut nodes and the
//! other way round; of a PV node the first child is a PV node and the rest are cut nodes. A late
//! move that is searched with a reduction is expected to be refuted wherever it stands, so its node
//! is a cut node even below another.

/// What is known at compile time about a node's place in the tree.
pub(super) trait NodeType {
    /// Searched with an open window.
    const PV: bool;
    /// The root.
    const ROOT: bool;
}

/// The root: a PV node.
pub(super) struct Root;
/// A PV node below the root.
pub(super) struct Pv;
/// A cut or all node.
pub(super) struct NonPv;

impl NodeType for Root {
    const PV: bool = true;
    const ROOT: bool = true;
}

impl NodeType for Pv {
    const PV: bool = true;
    const ROOT: bool = false;
}

impl NodeType for NonPv {
    const PV: bool = false;
    const ROOT: bool = false;
}
