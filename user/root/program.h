// SPDX-License-Identifier: BSD-2-Clause
// A payload program and its space: loaded from a boot module, paged page by page from root's own memory.
#ifndef COBNUT_ROOT_PROGRAM_H
#define COBNUT_ROOT_PROGRAM_H
#include <cobnut/boot.h>
#include <cobnut/elf.h>
#include <cobnut/layout.h>
#include <cobnut/options.h>
#include <l4/ipc.h>

namespace root {

inline constexpr L4_Word_t stack_top = cobnut::payload_stack_top, stack_size = 16384;
inline constexpr L4_Word_t program_high = 0x80000000; ///< segments lie below

/// Whether `address` is where a stack that is too large for its place goes: nothing else lies there.
constexpr bool below_stack(L4_Word_t address)
{
    return address < stack_top - stack_size && address >= stack_top - 4 * stack_size;
}

class Program {
public:
    /// Loads the module and starts it as thread `tid`. False after printing one line on what is wrong.
    bool load(const cobnut::Module &module, L4_ThreadId_t tid);

    /// Sends the start message.
    bool start();

    bool running() const { return running_; }
    L4_ThreadId_t tid() const { return tid_; }
    /// What others find it by.
    cobnut::Text name() const { return name_; }
    /// Whether it runs for others, as long as they do.
    bool server() const { return server_; }

    /// The item that resolves a fault at `address`, a nil item if the program may not do what it tried.
    bool resolve(L4_Word_t address, bool write, L4_MapItem_t &item) const;

    /// Deletes the thread, and with it the space. The frames stay: root has no use for them.
    void end(int code);
    /// What it ended with: 0 is success. A program that could not be started, or was ended for a fault, has `failed`.
    int code() const { return code_; }
    static constexpr int failed = 1;

    /// Prints "root: NAME: " and a message.
    void say(const char *text, ...) const __attribute__((format(printf, 2, 3)));

private:
    struct Page {
        L4_Word_t address;
        L4_Word_t frame;
        bool writable;
    };

    /// The page at an address, added (zeroed) if it is not there; null without memory.
    Page *page_at(L4_Word_t address);
    bool load_all(const void *file, const cobnut::ElfImage &image, const char *command_line);
    bool load_segment(const void *file, const cobnut::ElfSegment &segment);
    bool make_stack(const char *command_line);
    bool make_space(const char *command_line);
    bool make_small(const char *command_line);

    cobnut::Text name_;
    L4_ThreadId_t tid_ = {};
    L4_Word_t entry_ = 0, stack_pointer_ = 0;
    size_t first_page_ = 0, page_count_ = 0;
    bool running_ = false, server_ = false;
    int code_ = failed;

    // All programs share one table; a program's pages are consecutive since programs are loaded one after another.
    // Entries from pages_used_ to frames_ have frames but no owner: left by a program that could not be loaded.
    static constexpr size_t max_pages = 16384;
    static Page pages_[max_pages];
    static size_t pages_used_, frames_;
};

/// Reads SIZE[@SLOT] (MB, and the number of the place in units of SIZE) into a small-space number for SpaceControl;
/// false if the control word cannot express it.
bool parse_small(cobnut::Text text, L4_Word_t &number);

} // namespace root
#endif
