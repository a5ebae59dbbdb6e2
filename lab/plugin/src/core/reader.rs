// SPDX-License-Identifier: GPL-2.0-or-later
//! Reading the virtual processor's registers through QEMU's plugin interface.

use qemu_plugin_sys as qemu;
use std::ffi::CStr;

extern "C" {
    // GLib comes with QEMU itself.
    fn g_byte_array_new() -> *mut qemu::GByteArray;
    fn g_byte_array_set_size(array: *mut qemu::GByteArray, length: u32) -> *mut qemu::GByteArray;
    fn g_array_free(array: *mut qemu::GArray, free_segment: i32) -> *mut i8;
}

/// A register of the virtual processor, as QEMU names it to plugins.
pub type Handle = *mut qemu::qemu_plugin_register;

/// Reads registers of 32 bits.
pub struct Reader {
    buffer: *mut qemu::GByteArray,
}

impl Reader {
    /// A reader, and the handles of the registers called `names`. Must be called in the context of a virtual processor
    /// that exists already.
    pub fn find<const N: usize>(names: [&str; N]) -> Result<(Self, [Handle; N]), String> {
        let list = unsafe { qemu::qemu_plugin_get_registers() };
        if list.is_null() {
            return Err("QEMU offers no registers".into());
        }
        let descriptors = unsafe {
            std::slice::from_raw_parts((*list).data as *const qemu::qemu_plugin_reg_descriptor, (*list).len as usize)
        };
        let mut handles = [std::ptr::null_mut(); N];
        for (handle, name) in handles.iter_mut().zip(names) {
            let named =
                |d: &&qemu::qemu_plugin_reg_descriptor| unsafe { CStr::from_ptr(d.name) }.to_bytes() == name.as_bytes();
            *handle = descriptors.iter().find(named).ok_or(format!("QEMU offers no register {name}"))?.handle;
        }
        unsafe { g_array_free(list, 1) };
        Ok((Reader { buffer: unsafe { g_byte_array_new() } }, handles))
    }

    #[inline]
    pub fn read(&self, handle: Handle) -> u32 {
        unsafe {
            g_byte_array_set_size(self.buffer, 0);
            let size = qemu::qemu_plugin_read_register(handle, self.buffer);
            if size < 4 {
                return 0;
            }
            ((*self.buffer).data as *const u32).read_unaligned()
        }
    }
}
