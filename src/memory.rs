//! Large tables in zeroed memory, on huge pages where the system has them.
//!
//! A search reads its tables in no order. On ordinary pages of 4 KiB many such reads also miss the
//! processor's list of recent pages (the TLB), and the processor has to look the page up before
//! it can begin to fetch, or even to prefetch. Huge pages have to be asked for before the memory
//! is first touched; that rules out `alloc_zeroed`, which writes the zeros itself where so large
//! an alignment is asked for.
#![allow(unsafe_code)]

mod populate;

use std::io;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

use bytemuck::{Pod, Zeroable};
use memmap2::{MmapOptions, MmapRaw};
use populate::Population;

/// Size and alignment of a huge page in bytes, on x86-64 and mostly elsewhere.
const HUGE_PAGE: usize = 2 << 20;
/// Tables of at least half a huge page get a whole number of them.
const WORTH_IT: usize = HUGE_PAGE / 2;

/// A fixed number of values, all bits zero at first. The system supplies the memory piece by
/// piece as it is first touched, so that even a very large table is there at once.
#[derive(Debug)]
pub struct LargeTable<T> {
    /// Before the map, so that it is dropped first.
    population: Option<Population>,
    /// Without references of its own to the bytes: a shared one would forbid writing through
    /// atomic values behind it.
    map: MmapRaw,
    /// Of the first value, in bytes from the start of the map.
    offset: usize,
    len: usize,
    values: PhantomData<[T]>,
}

impl<T: Zeroable> LargeTable<T> {
    /// A table of `len` zeros.
    ///
    /// # Errors
    /// If the system refuses the memory, or no address space could hold it.
    pub fn new(len: usize) -> io::Result<LargeTable<T>> {
        const {
            assert!(size_of::<T>() != 0 && align_of::<T>() <= HUGE_PAGE);
            assert!(!std::mem::needs_drop::<T>(), "values are never dropped");
        }
        let too_large = || io::Error::from(io::ErrorKind::OutOfMemory);
        let bytes = len.checked_mul(size_of::<T>()).ok_or_else(too_large)?;
        let huge = bytes >= WORTH_IT;
        let whole = if huge {
            bytes.checked_next_multiple_of(HUGE_PAGE)
        } else {
            Some(bytes)
        };
        // One page more, for the table has to begin where a huge page does.
        let mapped = whole
            .and_then(|whole| whole.checked_add(HUGE_PAGE))
            .filter(|&mapped| isize::try_from(mapped).is_ok())
            .ok_or_else(too_large)?;
        let map = MmapRaw::from(MmapOptions::new().len(mapped).map_anon()?);
        if huge {
            advise_huge_pages(&map);
        }
        Ok(LargeTable {
            population: None,
            offset: map.as_ptr().align_offset(HUGE_PAGE),
            map,
            len,
            values: PhantomData,
        })
    }
}

impl<T: Pod> Clone for LargeTable<T> {
    /// # Panics
    /// If the system refuses the memory.
    fn clone(&self) -> LargeTable<T> {
        let mut copy = LargeTable::new(self.len).expect("memory for a copy");
        copy.copy_from_slice(self);
        copy
    }
}

impl<T: PartialEq> PartialEq for LargeTable<T> {
    fn eq(&self, other: &LargeTable<T>) -> bool {
        **self == **other
    }
}

impl<T: Zeroable> LargeTable<T> {
    /// Zeroes all values.
    pub fn clear(&mut self) {
        bytemuck::fill_zeroes(self);
    }

    /// Has the system supply the memory now, with up to `threads` threads, so that the first
    /// touch of a page costs nothing later. Returns when that is done or `timeout` is over; what
    /// is left then goes on in the background. Says whether nothing more is being done, which is so
    /// where the system cannot supply memory ahead as well.
    pub fn populate(&mut self, threads: usize, timeout: Duration) -> bool {
        let address = self.map.as_ptr().expose_provenance() + self.offset;
        let population = Population::start(address, size_of_val::<[T]>(self), threads);
        let done = population.wait(timeout);
        self.population = Some(population);
        done
    }
}

/// Bytes of memory that this machine, or the container that the program runs in, has for all its
/// programs together; `None` where that is not known.
///
/// A system that hands out memory only when it is first touched promises more than this, and
/// ends the program when it cannot keep the promise.
#[must_use]
fn physical_memory() -> Option<u64> {
    let total = bytes_in("/proc/meminfo", "MemTotal:")?;
    // "max" where the container has no limit.
    let container = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let container = container.and_then(|text| text.trim().parse().ok());
    Some(container.map_or(total, |limit: u64| limit.min(total)))
}

/// Whether a table of so many bytes is more than the machine's memory. The system may promise it
/// nevertheless; then the program would end when it uses it.
#[must_use]
pub fn exceeds_memory(bytes: usize) -> bool {
    physical_memory().is_some_and(|physical| bytes as u64 > physical)
}

/// Bytes of memory that this process has in use just now, as the system counts them; `None` where
/// that is not known.
#[must_use]
pub fn resident_memory() -> Option<u64> {
    bytes_in("/proc/self/status", "VmRSS:")
}

/// The value of a line of a Linux status file, which gives it in KiB, in bytes.
fn bytes_in(file: &str, name: &str) -> Option<u64> {
    const KIB: u64 = 1024;
    let text = std::fs::read_to_string(file).ok()?;
    let value = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = value.split_whitespace().next()?.parse().ok()?;
    kib.checked_mul(KIB)
}

/// Whether this many bytes could be allocated now.
#[must_use]
pub fn can_allocate(bytes: usize) -> bool {
    LargeTable::<u8>::new(bytes).is_ok()
}

/// A refusal only means ordinary pages. Miri knows no such request.
#[cfg(all(target_os = "linux", not(miri)))]
fn advise_huge_pages(map: &MmapRaw) {
    if let Err(error) = map.advise(memmap2::Advice::HugePage) {
        log::debug!("no huge pages: {error}");
    }
}

#[cfg(any(not(target_os = "linux"), miri))]
fn advise_huge_pages(_map: &MmapRaw) {}

impl<T> Deref for LargeTable<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: from `offset`, which is aligned for T, the map holds `len` values; it was
        // zeroed by the system, zeros are a valid T (`new` asked for that), and later writes
        // were of values of T.
        unsafe {
            std::slice::from_raw_parts(self.map.as_mut_ptr().add(self.offset).cast(), self.len)
        }
    }
}

impl<T> DerefMut for LargeTable<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and the map is borrowed as long as the slice.
        unsafe {
            let first = self.map.as_mut_ptr().add(self.offset);
            std::slice::from_raw_parts_mut(first.cast(), self.len)
        }
    }
}

/// Asks the processor to load the cache line at which `value` begins, some time before it is
/// needed.
#[inline]
pub fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let address: *const T = value;
        // SAFETY: prefetching reads nothing, whatever the address; SSE is part of x86-64.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_zeroed_aligned_and_keep_what_is_written() {
        for len in [0, 1, 1000, WORTH_IT / 8, HUGE_PAGE / 8 + 1] {
            let mut table = LargeTable::<u64>::new(len).expect("memory");
            assert_eq!(table.len(), len);
            assert!(table.as_ptr().cast::<u8>().align_offset(HUGE_PAGE) == 0);
            assert!(table.iter().all(|&value| value == 0));
            for (index, value) in table.iter_mut().enumerate() {
                *value = index as u64;
            }
            assert!(table.iter().enumerate().all(|(i, &v)| v == i as u64));
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn population_supplies_the_memory_and_ends_with_the_table() {
        const BYTES: usize = 96 << 20;
        let resident = || resident_memory().expect("on Linux");
        let before = resident();
        let mut table = LargeTable::<u8>::new(BYTES).expect("memory");
        table[BYTES - 1] = 7;
        assert!(table.populate(3, Duration::MAX));
        // Half, because other tests give memory back meanwhile.
        assert!(resident() > before + BYTES as u64 / 2);
        assert!(table[BYTES - 1] == 7 && table[..BYTES - 1].iter().all(|&byte| byte == 0));
        // Dropped while its threads may still work.
        table.populate(2, Duration::ZERO);
    }

    #[test]
    fn what_no_machine_has_is_refused() {
        for len in [usize::MAX, usize::MAX / 8, isize::MAX as usize / 8] {
            assert!(LargeTable::<u64>::new(len).is_err(), "{len}");
        }
    }

    /// Huge pages are in use where the system grants them.
    #[cfg(target_os = "linux")]
    #[test]
    fn large_tables_lie_on_huge_pages() {
        let granted = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled");
        if granted.is_ok_and(|text| !text.contains("[never]")) {
            let table = LargeTable::<u64>::new(HUGE_PAGE).expect("memory");
            assert!(table.iter().all(|&value| value == 0));
            let maps = std::fs::read_to_string("/proc/self/smaps").expect("on Linux");
            let inside = |line: &str| {
                let (start, end) = line.split_once(' ')?.0.split_once('-')?;
                let hex = |text| usize::from_str_radix(text, 16).ok();
                Some((hex(start)?..hex(end)?).contains(&(table.as_ptr() as usize)))
            };
            let mut lines = maps.lines().skip_while(|line| inside(line) != Some(true));
            // "hg": the advice is set. Whether huge pages were free does not depend on the program.
            let flags = lines.find(|line| line.starts_with("VmFlags"));
            assert!(
                flags.is_some_and(|flags| flags.contains(" hg")),
                "{flags:?}"
            );
        }
    }
}
