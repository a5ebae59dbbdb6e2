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

type Handle = *mut qemu::qemu_plugin_register;

/// Handles of the registers that the plugin reads.
pub struct Registers {
    buffer: *mut qemu::GByteArray,
    eip: Handle,
    cr0: Handle,
    cr2: Handle,
    cr3: Handle,
    cr4: Handle,
    /// eax ecx edx ebx esp ebp esi edi
    general: [Handle; 8],
    /// es cs ss ds fs gs
    segments: [Handle; 6],
}

pub const EAX: usize = 0;
pub const EDX: usize = 2;
pub const ESP: usize = 4;
pub const CS: usize = 1;
pub const SS: usize = 2;

impl Registers {
    /// Must be called in the context of a virtual processor that exists already.
    pub fn find() -> Result<Self, String> {
        let list = unsafe { qemu::qemu_plugin_get_registers() };
        if list.is_null() {
            return Err("QEMU offers no registers".into());
        }
        let descriptors = unsafe {
            std::slice::from_raw_parts((*list).data as *const qemu::qemu_plugin_reg_descriptor, (*list).len as usize)
        };
        let find = |name: &str| {
            descriptors
                .iter()
                .find(|d| unsafe { CStr::from_ptr(d.name) }.to_bytes() == name.as_bytes())
                .map(|d| d.handle)
                .ok_or(format!("QEMU offers no register {name}"))
        };
        let mut general = [std::ptr::null_mut(); 8];
        for (handle, name) in general.iter_mut().zip(["eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi"]) {
            *handle = find(name)?;
        }
        let mut segments = [std::ptr::null_mut(); 6];
        for (handle, name) in segments.iter_mut().zip(["es", "cs", "ss", "ds", "fs", "gs"]) {
            *handle = find(name)?;
        }
        let registers = Registers {
            buffer: unsafe { g_byte_array_new() },
            eip: find("eip")?,
            cr0: find("cr0")?,
            cr2: find("cr2")?,
            cr3: find("cr3")?,
            cr4: find("cr4")?,
            general,
            segments,
        };
        unsafe { g_array_free(list, 1) };
        Ok(registers)
    }

    #[inline]
    fn read(&self, handle: Handle) -> u32 {
        unsafe {
            g_byte_array_set_size(self.buffer, 0);
            let size = qemu::qemu_plugin_read_register(handle, self.buffer);
            if size < 4 {
                return 0;
            }
            ((*self.buffer).data as *const u32).read_unaligned()
        }
    }

    #[inline]
    pub fn eip(&self) -> u32 {
        self.read(self.eip)
    }

    pub fn cr0(&self) -> u32 {
        self.read(self.cr0)
    }

    pub fn cr2(&self) -> u32 {
        self.read(self.cr2)
    }

    pub fn cr3(&self) -> u32 {
        self.read(self.cr3)
    }

    pub fn cr4(&self) -> u32 {
        self.read(self.cr4)
    }

    /// General register by its number in an instruction.
    pub fn general(&self, number: usize) -> u32 {
        self.read(self.general[number])
    }

    /// Selector in a segment register, by its number in an instruction.
    pub fn selector(&self, number: usize) -> u32 {
        self.read(self.segments[number]) & 0xffff
    }
}
