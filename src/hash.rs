//! Hashes and pseudo-random numbers that are the same on every machine. None of them is a defence
//! against forgery.

/// The hash of nothing: what [`fnv1a_from`] starts with.
pub const FNV_OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a with 64 bits (Fowler, Noll, Vo): enough to notice damage.
#[must_use]
pub fn fnv1a(bytes: &[u8]) -> u64 {
    fnv1a_from(FNV_OFFSET_BASIS, bytes)
}

/// Continues the hash of the bytes before these.
#[must_use]
pub fn fnv1a_from(hash: u64, bytes: &[u8]) -> u64 {
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let add = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(PRIME);
    bytes.iter().fold(hash, add)
}

/// From one state of SplitMix64 to the next.
const SPLIT_MIX_STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Spreads each bit of a key over all others: the finaliser of SplitMix64 (Steele, Lea and Flood
/// 2014), which leaves zero as it is.
#[must_use]
pub const fn mix_bits(key: u64) -> u64 {
    let key = (key ^ (key >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let key = (key ^ (key >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    key ^ (key >> 31)
}

/// The first number that SplitMix64 gives from a seed: a well-mixed function of its argument.
#[must_use]
pub const fn mix(seed: u64) -> u64 {
    mix_bits(seed.wrapping_add(SPLIT_MIX_STEP))
}

/// The generator SplitMix64.
#[derive(Clone, Debug)]
pub struct SplitMix(pub u64);

impl SplitMix {
    /// The next number, of all that 64 bits hold.
    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(SPLIT_MIX_STEP);
        mix_bits(self.0)
    }

    /// A number below `limit`, which is not zero.
    pub const fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hash_is_fnv1a() {
        // Test vectors published with the algorithm.
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
        assert_eq!(fnv1a_from(fnv1a(b"foo"), b"bar"), fnv1a(b"foobar"));
    }

    #[test]
    fn numbers_are_those_of_split_mix() {
        // The first numbers from the seed 1234567, as other implementations give them.
        let mut random = SplitMix(1_234_567);
        assert_eq!(random.next(), 6_457_827_717_110_365_317);
        assert_eq!(random.next(), 3_203_168_211_198_807_973);
        assert_eq!(mix(1_234_567), 6_457_827_717_110_365_317);
    }
}
