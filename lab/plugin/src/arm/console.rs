// SPDX-License-Identifier: GPL-2.0-or-later
//! What an ARM guest prints, which it stores to the first serial port of QEMU's boards.

use cobnut_model::arm::Class;
use std::ffi::CStr;

/// By what QEMU calls the ports, where characters go: versatilepb's UART 0 (ARM DUI 0224, 4.1 and 4.19; PL011's UARTDR)
/// and collie's serial port 1 (SA-1110's developer's manual, 11.11.6: UTDR).
const PORTS: [(&CStr, u64); 2] = [(c"pl011", 0x101f_1000), (c"uart", 0x8001_0014)];

pub fn is_port(device: &CStr, physical: u64) -> bool {
    PORTS.contains(&(device, physical))
}

/// The register that an instruction stores, if it is one that stores a register's word, half or byte (ARM Architecture
/// Reference Manual, A3.11).
pub fn stored(bytes: &[u8], class: Class) -> Option<usize> {
    match *bytes {
        [_, b, _, _] if class == Class::Store => Some((b >> 4) as usize),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arm::decode::decode;

    fn of(code: u32) -> Option<usize> {
        let bytes = code.to_le_bytes();
        stored(&bytes, decode(&bytes).instruction.class)
    }

    #[test]
    fn a_character_is_stored_as_a_word_a_half_or_a_byte() {
        assert_eq!(of(0xe585_7000), Some(7), "str r7, [r5]");
        assert_eq!(of(0xe5c3_2000), Some(2), "strb r2, [r3]");
        assert_eq!(of(0xe1c3_40b0), Some(4), "strh r4, [r3]");
        assert_eq!(of(0xe595_7000), None, "ldr r7, [r5]");
        assert_eq!(of(0xe885_0006), None, "stm r5, {{r1, r2}}");
    }

    #[test]
    fn only_the_first_port_is_the_console() {
        assert!(is_port(c"pl011", 0x101f_1000) && is_port(c"uart", 0x8001_0014));
        assert!(!is_port(c"pl011", 0x101f_2000) && !is_port(c"pl011", 0x101f_1018) && !is_port(c"sram", 0x101f_1000));
    }
}
