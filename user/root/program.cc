// SPDX-License-Identifier: BSD-2-Clause
#include "program.h"

#include <cobnut/format.h>
#include <cobnut/program.h>
#include <cobnut/space.h>
#include <l4/sigma0.h>

extern "C" void *memset(void *, int, size_t);
extern "C" void *memcpy(void *, const void *, size_t);

namespace root {
namespace {

constexpr L4_Word_t page_size = 4096;

} // namespace

constinit Program::Page Program::pages_[Program::max_pages] = {};
constinit size_t Program::pages_used_ = 0, Program::frames_ = 0;

bool parse_small(cobnut::Text text, L4_Word_t &number)
{
    cobnut::Text size{text.data, 0};
    while (size.size < text.size && text.data[size.size] != '@') size.size++;
    unsigned mb, slot = 0;
    if (!cobnut::parse_number(size, mb)) return false;
    if (size.size < text.size) {
        const cobnut::Text rest{text.data + size.size + 1, text.size - size.size - 1};
        if (!cobnut::parse_number(rest, slot)) return false;
    }
    const bool power = mb >= 4 && mb <= 512 && (mb & (mb - 1)) == 0;
    if (!power || slot >= 512 / mb) return false;
    number = L4_SmallSpace(slot * mb, mb);
    return true;
}

void Program::say(const char *text, ...) const
{
    char message[160];
    va_list arguments;
    va_start(arguments, text);
    cobnut::format(message, sizeof message, text, arguments);
    va_end(arguments);
    cobnut::print("root: %.*s: %s\n", static_cast<int>(name_.size), name_.data, message);
}

Program::Page *Program::page_at(L4_Word_t address)
{
    address &= ~(page_size - 1);
    for (size_t i = first_page_; i < first_page_ + page_count_; i++)
        if (pages_[i].address == address) return &pages_[i];
    if (pages_used_ == max_pages) return nullptr;
    Page &page = pages_[pages_used_];
    if (pages_used_ == frames_) {
        const L4_Fpage_t frame = L4_Sigma0_GetAny(L4_nilthread, 12, L4_CompleteAddressSpace);
        if (L4_IsNilFpage(frame)) return nullptr;
        page.frame = L4_Address(frame);
        frames_++;
    }
    pages_used_++;
    page_count_++;
    page.address = address;
    page.writable = false;
    memset(reinterpret_cast<void *>(page.frame), 0, page_size);
    return &page;
}

bool Program::load_segment(const void *file, const cobnut::ElfSegment &segment)
{
    const char *from = static_cast<const char *>(file) + segment.offset;
    for (L4_Word_t done = 0; done < segment.memory_size;) {
        const L4_Word_t address = segment.address + done;
        const L4_Word_t in_page = address & (page_size - 1);
        L4_Word_t bytes = page_size - in_page;
        if (bytes > segment.memory_size - done) bytes = segment.memory_size - done;
        Page *page = page_at(address);
        if (!page) return false;
        page->writable |= segment.writable;
        if (done < segment.file_size) {
            const L4_Word_t copy = bytes < segment.file_size - done ? bytes : segment.file_size - done;
            memcpy(reinterpret_cast<void *>(page->frame + in_page), from + done, copy);
        }
        done += bytes;
    }
    return true;
}

bool Program::make_stack(const char *command_line)
{
    for (L4_Word_t address = stack_top - stack_size; address < stack_top; address += page_size) {
        Page *page = page_at(address);
        if (!page) return false;
        page->writable = true;
    }
    const Page *const top = page_at(stack_top - page_size);
    stack_pointer_ = cobnut::put_command_line(reinterpret_cast<char *>(top->frame) + page_size, command_line);
    return true;
}

bool Program::make_small(const char *command_line)
{
    const cobnut::Text wish = cobnut::Options(command_line).find("small");
    if (!wish) return true;
    L4_Word_t number, old = 0;
    if (!parse_small(wish, number)) {
        say("small=%.*s is no small space: use small=MB@SLOT with MB a power of two from 4 to 512",
            static_cast<int>(wish.size), wish.data);
        return false;
    }
    L4_SpaceControl(tid_, L4_SmallSpaceChange | number, L4_Nilpage, L4_Nilpage, L4_nilthread, &old);
    if (!(old & L4_SmallSpaceChange))
        say("the kernel has no room for small=%.*s: the space stays large", static_cast<int>(wish.size), wish.data);
    return true;
}

bool Program::make_space(const char *command_line)
{
    if (const L4_Word_t error = cobnut_make_space(tid_, L4_Myself(), nullptr)) {
        say("cannot set up its space (error %u)", error);
        return false;
    }
    if (make_small(command_line)) return true;
    end(failed);
    return false;
}

bool Program::load(const cobnut::Module &module, L4_ThreadId_t tid)
{
    const cobnut::Options options(module.command_line);
    name_ = options.find("name");
    if (!name_.size) name_ = options.program();
    server_ = options.number("server", 0);
    if (!name_.size) name_ = {"(unnamed)", 9};
    tid_ = tid;
    first_page_ = pages_used_;
    page_count_ = 0;
    if (!cobnut::map_physical(module.start, module.size)) {
        say("sigma0 refuses its memory");
        return false;
    }
    const void *file = reinterpret_cast<const void *>(module.start);
    cobnut::ElfImage image;
    const cobnut::ElfError error = cobnut::parse_elf(file, module.size, cobnut::payload_low, program_high, image);
    if (error != cobnut::ElfError::none) {
        say("not started: the file %s", cobnut::describe(error));
        return false;
    }
    entry_ = image.entry;
    if (load_all(file, image, module.command_line) && make_space(module.command_line)) return true;
    pages_used_ = first_page_; // for the next program
    return false;
}

bool Program::load_all(const void *file, const cobnut::ElfImage &image, const char *command_line)
{
    bool loaded = make_stack(command_line);
    for (size_t i = 0; loaded && i < image.count; i++) loaded = load_segment(file, image.segments[i]);
    if (!loaded) say("not started: not enough memory");
    return loaded;
}

bool Program::start()
{
    if (const L4_Word_t error = cobnut_start(tid_, entry_, stack_pointer_)) {
        say("does not take its start message (error %u)", error);
        end(failed);
        return false;
    }
    return running_ = true;
}

bool Program::resolve(L4_Word_t address, bool write, L4_MapItem_t &item) const
{
    address &= ~(page_size - 1);
    for (size_t i = first_page_; i < first_page_ + page_count_; i++) {
        const Page &page = pages_[i];
        if (page.address != address) continue;
        if (write && !page.writable) return false;
        const L4_Word_t rights = page.writable ? L4_FullyAccessible : L4_ReadeXecOnly;
        item = L4_MapItem(L4_FpageLog2(page.frame, 12) + rights, page.address);
        return true;
    }
    return false;
}

void Program::end(int code)
{
    code_ = code;
    L4_ThreadControl(tid_, L4_nilthread, L4_nilthread, L4_nilthread, reinterpret_cast<void *>(-1));
    running_ = false;
}

} // namespace root
