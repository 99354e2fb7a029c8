//! What has been counted, shared by all threads without locks.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::memory::exceeds_memory;

const BYTES_PER_MIB: usize = 1 << 20;

/// A count and its key, the key stored mixed with the count, so that the halves of two writes do
/// not match each other (Hyatt and Mann's lockless hashing).
#[derive(Default)]
struct Slot {
    check: AtomicU64,
    count: AtomicU64,
}

/// Counts by key, the newest in each slot.
pub(super) struct Table {
    slots: Vec<Slot>,
}

impl Table {
    /// A table of `mib` mebibytes; `None` if allocation fails.
    pub(super) fn new(mib: usize) -> Option<Table> {
        let bytes = mib.checked_mul(BYTES_PER_MIB)?;
        if exceeds_memory(bytes) {
            return None;
        }
        let len = bytes / size_of::<Slot>();
        let mut slots = Vec::new();
        slots.try_reserve_exact(len).ok()?;
        slots.resize_with(len, Slot::default);
        Some(Table { slots })
    }

    /// Whether it holds nothing, as one of no bytes.
    pub(super) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The key of a position counted to a depth.
    #[inline]
    pub(super) fn key(position: u64, depth: u32) -> u64 {
        /// Odd, with bits set all over: pi's fraction.
        const FACTOR: u64 = 0x243F_6A88_85A3_08D3;
        position ^ FACTOR.wrapping_mul(u64::from(depth))
    }

    #[inline]
    fn slot(&self, key: u64) -> &Slot {
        // The high half of the product: an even spread without a division.
        let index = (u128::from(key) * self.slots.len() as u128) >> u64::BITS;
        &self.slots[index as usize]
    }

    #[inline]
    pub(super) fn get(&self, key: u64) -> Option<u64> {
        let slot = self.slot(key);
        let count = slot.count.load(Relaxed);
        // An empty slot would match the key zero; no position is worth that special case.
        (slot.check.load(Relaxed) ^ count == key && key != 0).then_some(count)
    }

    #[inline]
    pub(super) fn put(&self, key: u64, count: u64) {
        let slot = self.slot(key);
        slot.check.store(key ^ count, Relaxed);
        slot.count.store(count, Relaxed);
    }
}
