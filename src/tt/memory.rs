//! The table's memory: large, zeroed by the system as it is first touched, on huge pages where
//! they can be had. The only place outside the network's kernels that needs unsafe code.
#![allow(unsafe_code)]

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

use thiserror::Error;

use super::Cluster;

const MIB: usize = 1 << 20;
/// Alignment that lets the system use huge pages.
const HUGE_PAGE: usize = 2 * MIB;

/// The memory for a table could not be had.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("no memory for a hash table of {0} MiB")]
pub struct AllocError(pub usize);

/// An owned slice of clusters.
pub(super) struct Memory {
    start: NonNull<Cluster>,
    len: usize,
    layout: Layout,
}

// SAFETY: the memory is owned, and clusters are made of atomics.
unsafe impl Send for Memory {}
// SAFETY: as above; shared access goes through atomics only.
unsafe impl Sync for Memory {}

impl Memory {
    /// `mib` mebibytes of empty clusters, at least one mebibyte.
    pub(super) fn new(mib: usize) -> Result<Memory, AllocError> {
        let bytes = mib.max(1).checked_mul(MIB).ok_or(AllocError(mib))?;
        let layout = Layout::from_size_align(bytes, HUGE_PAGE).map_err(|_| AllocError(mib))?;
        // SAFETY: the layout's size is not zero.
        let start = unsafe { alloc_zeroed(layout) };
        let start = NonNull::new(start.cast::<Cluster>()).ok_or(AllocError(mib))?;
        advise_huge_pages(start, bytes);
        Ok(Memory {
            start,
            len: bytes / size_of::<Cluster>(),
            layout,
        })
    }

    pub(super) fn as_slice(&self) -> &[Cluster] {
        // SAFETY: `start` points to `len` clusters that live as long as self; zero bytes are a
        // valid cluster, and the alignment is above the cluster's.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout, and no slice outlives self.
        unsafe { dealloc(self.start.as_ptr().cast(), self.layout) }
    }
}

#[cfg(target_os = "linux")]
fn advise_huge_pages(start: NonNull<Cluster>, bytes: usize) {
    // SAFETY: the range was just allocated; the advice changes no contents, and a refusal only
    // means ordinary pages.
    unsafe { libc::madvise(start.as_ptr().cast(), bytes, libc::MADV_HUGEPAGE) };
}

#[cfg(not(target_os = "linux"))]
fn advise_huge_pages(_start: NonNull<Cluster>, _bytes: usize) {}

/// A hint to load a cluster into the cache.
#[inline]
pub(super) fn prefetch(cluster: &Cluster) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let address: *const Cluster = cluster;
        // SAFETY: prefetching reads nothing, whatever the address; SSE is part of x86-64.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = cluster;
}
